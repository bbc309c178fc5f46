# ruff: noqa: E501 - HTML reads better on one line
"""Ways to put text into a page that no person sees, and ways that only look like one.

WORDS stands for the text. A page that holds all of them gives each trick words of its own.
"""

from __future__ import annotations

#: By the property, attribute or element that hides.
TRICKS: dict[str, dict[str, str]] = {
    "attributes": {
        "hidden": "<p hidden>WORDS</p>",
        "hidden=until-found": "<p hidden=until-found>WORDS</p>",
        "inert": "<p inert>WORDS</p>",
        "aria-hidden": "<p aria-hidden=true>WORDS</p>",
        "popover": "<p popover>WORDS</p>",
        "hidden around it": "<div hidden><p>WORDS</p></div>",
        "inert around it": "<div inert><p>WORDS</p></div>",
        "aria-hidden around it": "<div aria-hidden=true><p>WORDS</p></div>",
        "popover=manual": "<div popover=manual><p>WORDS</p></div>",
        "data attribute": "<p data-note='WORDS'>Shown.</p>",
        "class": "<p class='WORDS'>Shown.</p>",
        "value of a checkbox": "<label><input type=checkbox value='WORDS'> Shown</label>",
        "value of an option": "<select aria-label=Shown><option value='WORDS'>Shown</select>",
        "placeholder under a value": "<input aria-label=Shown value=Shown placeholder='WORDS'>",
        "title of what is hidden": "<p hidden title='WORDS'>Shown.</p>",
        "action of a form": "<form action='/x?WORDS'><button>Shown</button></form>",
        "cite of a quote": "<blockquote cite='/x?WORDS'>Shown.</blockquote>",
        "summary of a table": "<table summary='WORDS'><tr><td>Shown<td>Shown</table>",
        "accept-charset and name": "<form name='WORDS'><button>Shown</button></form>",
        "label of a track": "<video width=9 height=9 controls><track label='WORDS'></video>",
        "document of a hidden frame": "<iframe style='display:none' srcdoc='<p>WORDS</p>'></iframe>",
    },
    "elements": {
        "comment": "<!-- WORDS -->",
        "script": "<script>var x = 'WORDS'</script>",
        "script with data": '<script type=application/json>{"x": "WORDS"}</script>',
        "style": "<style>.none { content: 'WORDS' }</style>",
        "template": "<template><p>WORDS</p></template>",
        "noscript": "<noscript><p>WORDS</p></noscript>",
        "closed dialog": "<dialog><p>WORDS</p></dialog>",
        "datalist": "<datalist><option>WORDS</datalist>",
        "hidden input": "<p>Shown. <input type=hidden value='WORDS'></p>",
        "content of an iframe": "<iframe style='display:none'>WORDS</iframe>",
        "fallback of a video": "<video width=9 height=9>WORDS</video>",
        "SVG without size": "<svg width=0 height=0><text>WORDS</text></svg>",
        "link without text": "<p>Shown. <a href='/x?WORDS' style='display:none'>WORDS</a></p>",
        "meta": "<meta name=note content='WORDS'>",
        "noframes": "<noframes>WORDS</noframes>",
        "noembed": "<noembed>WORDS</noembed>",
        "fallback of an audio": "<audio controls>WORDS</audio>",
        "fallback of a canvas": "<canvas width=9 height=9>WORDS</canvas>",
        "fallback of an object": "<object data='data:text/html,Shown' width=9 height=9>WORDS</object>",
        "SVG description": "<svg width=9 height=9 aria-hidden=true><desc>WORDS</desc></svg>",
        "SVG metadata": "<svg width=9 height=9><metadata>WORDS</metadata></svg>",
        "SVG definitions": "<svg width=9 height=9><defs><text>WORDS</text></defs></svg>",
        "SVG symbol": "<svg width=9 height=9><symbol><text>WORDS</text></symbol></svg>",
        "hidden option": "<select aria-label=Shown><option>Shown<option hidden>WORDS</select>",
        "closed dialog around paragraphs": "<dialog><div><p>Shown?</p><p>WORDS</p></div></dialog>",
        "CDATA": "<![CDATA[WORDS]]>",
        "processing instruction": "<?note WORDS?>",
        "plain frame fallback": "<iframe width=9 height=9>WORDS</iframe>",
        "template in a table": "<table><template><tr><td>WORDS</template><tr><td>Shown<td>Shown</table>",
        "map without a picture": "<map name=m><area alt='WORDS' href='/x'></map>",
    },
    "not rendered": {
        "display: none": "<p style='display:none'>WORDS</p>",
        "display: none, important": "<p style='display:none!important'>WORDS</p>",
        "visibility: hidden": "<p style='visibility:hidden'>WORDS</p>",
        "visibility: collapse": "<p style='visibility:collapse'>WORDS</p>",
        "content-visibility": "<div style='content-visibility:hidden'><p>WORDS</p></div>",
        "display: none around it": "<div style='display:none'><div><p>WORDS</p></div></div>",
        "visibility: hidden around it": "<div style='visibility:hidden'><div><p>WORDS</p></div></div>",
        "visibility: collapse of a row": "<table><tr style='visibility:collapse'><td>WORDS<tr><td>Shown<td>Shown</table>",
        "display: none of an item": "<ul><li>Shown<li style='display:none'>WORDS</ul>",
        "DISPLAY:NONE": "<p style='DISPLAY:NONE'>WORDS</p>",
        "display with a comment": "<p style='display:/**/none'>WORDS</p>",
    },
    "without ink": {
        "opacity: 0": "<div style='opacity:0'><p>WORDS</p></div>",
        "opacity: .01": "<p style='opacity:.01'>WORDS</p>",
        "opacity: 1%": "<p style='opacity:1%'>WORDS</p>",
        "filter: opacity(0)": "<p style='filter:opacity(0)'>WORDS</p>",
        "transparent": "<p style='color:transparent'>WORDS</p>",
        "rgba(…, 0)": "<p style='color:rgba(0,0,0,0)'>WORDS</p>",
        "rgba(…, .01)": "<p style='color:rgba(0,0,0,.01)'>WORDS</p>",
        "oklch(… / 0)": "<p style='color:oklch(0 0 0 / 0)'>WORDS</p>",
        "color(… / 0)": "<p style='color:color(srgb 0 0 0 / 0)'>WORDS</p>",
        "colour of the ground": "<div style='background:#123'><p style='color:#123'>WORDS</p></div>",
        "colour of the ground, spelled differently": "<div style='background:#ffffff'><p style='color:rgb(255, 255, 255)'>WORDS</p></div>",
        "white on the page's white": "<p style='color:#fff'>WORDS</p>",
        "near the ground's colour": "<div style='background:#fff'><p style='color:#fefefe'>WORDS</p></div>",
        "text-fill-color": "<p style='-webkit-text-fill-color:transparent'>WORDS</p>",
        "many small opacities": "<div style='opacity:.3'><div style='opacity:.3'><div style='opacity:.3'><p style='opacity:.3'>WORDS</p></div></div></div>",
        "#0000": "<p style='color:#0000'>WORDS</p>",
        "hsl(… / 0%)": "<p style='color:hsl(0 0% 0% / 0%)'>WORDS</p>",
        "color-mix": "<p style='color:color-mix(in srgb, transparent, transparent)'>WORDS</p>",
        "inherited transparent": "<div style='color:transparent'><div><p>WORDS</p></div></div>",
        "colour of a far ground": "<div style='background:#345'><div><div><p style='color:#345'>WORDS</p></div></div></div>",
        "black on black": "<div style='background:#000;color:#000'><p>WORDS</p></div>",
        "lab() near the ground": "<p style='color:lab(99.8 0 0)'>WORDS</p>",
        "text-fill-color of the ground": "<p style='-webkit-text-fill-color:#fff'>WORDS</p>",
        "mask without alpha": "<p style='-webkit-mask-image:linear-gradient(transparent,transparent);mask-image:linear-gradient(transparent,transparent)'>WORDS</p>",
        "filter: brightness": "<p style='filter:brightness(99)'>WORDS</p>",
        "filter: contrast": "<div style='background:#fff;filter:contrast(0)'><p>WORDS</p></div>",
        "filter: blur": "<p style='filter:blur(60px)'>WORDS</p>",
        "-webkit-text-security": "<p style='-webkit-text-security:disc'>WORDS</p>",
        "blended away": "<div style='background:#fff'><p style='mix-blend-mode:screen;color:#fff'>WORDS</p></div>",
        "colour of a gradient": "<div style='background:linear-gradient(#fff,#fff)'><p style='color:#fff'>WORDS</p></div>",
        "background clipped to text": "<p style='color:transparent;background:linear-gradient(#fff,#fff);-webkit-background-clip:text;background-clip:text'>WORDS</p>",
        "animated to opacity 0": "<style>@keyframes ink1{to{opacity:0}}</style><p style='animation:ink1 1ms -9s forwards'>WORDS</p>",
        "animation paused at opacity 0": "<style>@keyframes ink2{from,to{opacity:0}}</style><p style='animation:ink2 9s paused infinite'>WORDS</p>",
    },
    "without size": {
        "font-size: 0": "<p style='font-size:0'>WORDS</p>",
        "font-size: 1px": "<p style='font-size:1px'>WORDS</p>",
        "zoom": "<p style='zoom:.01'>WORDS</p>",
        "height: 0 that clips": "<div style='height:0;overflow:hidden'><p>WORDS</p></div>",
        "max-height: 0 that clips": "<div style='max-height:0;overflow:hidden'><p>WORDS</p></div>",
        "one pixel": "<p style='position:absolute;width:1px;height:1px;overflow:hidden'>WORDS</p>",
        "scale(0)": "<p style='transform:scale(0)'>WORDS</p>",
        "scale(.01)": "<p style='transform:scale(.01)'>WORDS</p>",
        "rotateX(90deg)": "<p style='transform:rotateX(90deg)'>WORDS</p>",
        "width: 0 that clips": "<div style='width:0;overflow:hidden'><p>WORDS</p></div>",
        "max-width: 0 that clips": "<div style='max-width:0;overflow:hidden;white-space:nowrap'><p>WORDS</p></div>",
        "height: 0, overflow: clip": "<div style='height:0;overflow:clip'><p>WORDS</p></div>",
        "block-size: 0 that clips": "<div style='block-size:0;overflow:hidden'><p>WORDS</p></div>",
        "row of 0fr": "<div style='display:grid;grid-template-rows:0fr'><div style='overflow:hidden;min-height:0'><p style='margin:0'>WORDS</p></div></div>",
        "flex item without room": "<div style='display:flex;width:200px'><div style='flex:0 0 0;overflow:hidden;min-width:0'><p>WORDS</p></div><b>Shown</b></div>",
        "scaleX(0)": "<p style='transform:scaleX(0)'>WORDS</p>",
        "scaleY(0)": "<p style='transform:scaleY(0)'>WORDS</p>",
        "matrix": "<p style='transform:matrix(0,0,0,0,0,0)'>WORDS</p>",
        "scale: 0": "<p style='scale:0'>WORDS</p>",
        "scale3d": "<p style='transform:scale3d(0,0,0)'>WORDS</p>",
        "rotateY(90deg)": "<p style='transform:rotateY(90deg)'>WORDS</p>",
        "rotate: y 90deg": "<p style='rotate:y 90deg'>WORDS</p>",
        "zoom: .02 around it": "<div style='zoom:.02'><div><p>WORDS</p></div></div>",
        "font-size: .5px": "<p style='font-size:.5px'>WORDS</p>",
        "font-size-adjust: 0": "<p style='font-size-adjust:0'>WORDS</p>",
        "line-height: 0 that clips": "<p style='line-height:0;overflow:hidden;margin:0'>WORDS</p>",
        "letters on top of each other": "<p style='letter-spacing:-99px;white-space:nowrap'>WORDS</p>",
        "far behind the screen": "<div style='perspective:10px'><p style='transform:translateZ(-9999px)'>WORDS</p></div>",
        "contain: size": "<div style='contain:size;overflow:hidden'><p>WORDS</p></div>",
    },
    "outside what is shown": {
        "left of the page": "<p style='position:absolute;left:-9999px'>WORDS</p>",
        "above the page": "<p style='position:absolute;top:-9999px'>WORDS</p>",
        "far right of the page": "<p style='position:fixed;left:200vw'>WORDS</p>",
        "margin": "<p style='margin-left:-9999px'>WORDS</p>",
        "translateX": "<p style='transform:translateX(-9999px)'>WORDS</p>",
        "text-indent": "<p style='text-indent:-9999px;overflow:hidden'>WORDS</p>",
        "clip": "<p style='position:absolute;clip:rect(0,0,0,0)'>WORDS</p>",
        "clip-path: inset": "<p style='clip-path:inset(50%)'>WORDS</p>",
        "clip-path: circle": "<p style='clip-path:circle(0)'>WORDS</p>",
        "clip-path: polygon": "<p style='clip-path:polygon(0 0, 0 0, 0 0)'>WORDS</p>",
        "clipped beside": "<div style='overflow:hidden;width:200px;height:40px;white-space:nowrap'><p style='margin-left:300px;width:90px'>WORDS</p></div>",
        "clipped below": "<div style='overflow:hidden;height:40px'><p style='margin-top:80px'>WORDS</p></div>",
        "far left, fixed": "<p style='position:fixed;left:-9999px'>WORDS</p>",
        "right: 200%": "<p style='position:absolute;right:200vw'>WORDS</p>",
        "calc()": "<p style='position:absolute;left:calc(-100vw - 999px)'>WORDS</p>",
        "translateY": "<p style='transform:translateY(-99999px)'>WORDS</p>",
        "translate: property": "<p style='translate:-9999px'>WORDS</p>",
        "translate3d": "<p style='transform:translate3d(-9999px,0,0)'>WORDS</p>",
        "translate around it": "<div style='transform:translateX(-9999px)'><div><p>WORDS</p></div></div>",
        "inset": "<p style='position:absolute;inset:-9999px auto auto -9999px'>WORDS</p>",
        "em units": "<p style='position:absolute;left:-999em'>WORDS</p>",
        "clip-path: inset(100%)": "<p style='clip-path:inset(100%)'>WORDS</p>",
        "clip-path: inset of one side": "<p style='clip-path:inset(0 100% 0 0)'>WORDS</p>",
        "clip-path: ellipse": "<p style='clip-path:ellipse(0 0)'>WORDS</p>",
        "clip-path: circle elsewhere": "<p style='clip-path:circle(1px at -99px -99px)'>WORDS</p>",
        "clip-path: path": '<p style="clip-path:path(&quot;M0 0&quot;)">WORDS</p>',
        "clip-path around it": "<div style='clip-path:circle(0)'><p>WORDS</p></div>",
        "clip of another size": "<p style='position:absolute;clip:rect(1px,1px,1px,1px)'>WORDS</p>",
        "text-indent with nowrap": "<p style='text-indent:100%;white-space:nowrap;overflow:hidden'>WORDS</p>",
        "line-clamp": "<p style='display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:1;overflow:hidden'>Shown at first.<br><span>WORDS</span></p>",
        "marquee that stands still": "<marquee scrollamount=0>WORDS</marquee>",
        "marquee that has ended": "<marquee loop=1 scrolldelay=60000 behavior=slide>WORDS</marquee>",
        "animated away": "<style>@keyframes away{to{transform:translateX(-9999px)}}</style><p style='animation:away 1ms -9s forwards'>WORDS</p>",
        "clipped by overflow: clip": "<div style='overflow:clip;height:40px;padding-top:1px'><p style='margin-top:80px'>WORDS</p></div>",
        "clipped by contain: paint": "<div style='contain:paint;height:40px'><p style='margin-top:80px'>WORDS</p></div>",
        "column beyond the clip": "<div style='columns:1;column-fill:auto;height:3em;overflow:hidden'><p style='height:3em;margin:0'>Shown</p><p>WORDS</p></div>",
    },
    "by a style sheet": {
        "display: none": "<style>.t1{display:none}</style><p class=t1>WORDS</p>",
        "display: none by id, in a media query": "<style>@media screen{#t2{display:none}}</style><p id=t2>WORDS</p>",
        "visibility: hidden": "<style>div.t3 p{visibility:hidden}</style><div class=t3><p>WORDS</p></div>",
        "opacity: 0": "<style>.t4{opacity:0}</style><p class=t4>WORDS</p>",
        "outside": "<style>.t5{position:absolute;left:-9999px}</style><p class=t5>WORDS</p>",
        "one pixel": "<style>.t6{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)}</style><p class=t6>WORDS</p>",
        "font-size: 0": "<style>.t7{font-size:0}</style><p class=t7>WORDS</p>",
        "transparent": "<style>.t8{color:transparent}</style><p class=t8>WORDS</p>",
        "custom property": "<style>:root{--shown:none}.t9{display:var(--shown)}</style><p class=t9>WORDS</p>",
        "print only": "<style>.t10{display:none}@media print{.t10{display:block}}</style><p class=t10>WORDS</p>",
        "layer": "<style>@layer h{.t11{display:none}}</style><p class=t11>WORDS</p>",
        "supports": "<style>@supports (display:grid){.t12{display:none}}</style><p class=t12>WORDS</p>",
        ":has()": "<style>div:has(.t13) p{display:none}</style><div><i class=t13></i><p>WORDS</p></div>",
        ":nth-child": "<style>.t14 > :nth-child(2){visibility:hidden}</style><div class=t14><p>Shown</p><p>WORDS</p></div>",
        "attribute selector": "<style>[data-t15]{font-size:0}</style><p data-t15>WORDS</p>",
        "sibling": "<style>.t16 + p{opacity:0}</style><i class=t16></i><p>WORDS</p>",
        "shown on wide screens": "<style>.t17{display:none}@media (min-width:9000px){.t17{display:block}}</style><p class=t17>WORDS</p>",
        "link to a style sheet": "<link rel=stylesheet href='data:text/css,.t18%7Bdisplay:none%7D'><p class=t18>WORDS</p>",
        "colour of the ground": "<style>.t19{background:#eef;color:#eef}</style><p class=t19>WORDS</p>",
        "clip-path": "<style>.t20{clip-path:inset(50%)}</style><p class=t20>WORDS</p>",
        ":not(:target)": "<style>.t21:not(:target){display:none}</style><p class=t21 id=t21>WORDS</p>",
    },
    "inside other text": {
        "in a heading": "<h2>Shown <span style='position:absolute;left:-9999px'>WORDS</span></h2>",
        "in a list item": "<ul><li>Shown too. <span style='font-size:0'>WORDS</span></li></ul>",
        "in a table": "<table><tr><th>a<th>b<tr><td>Shown<td style='display:none'>WORDS</table>",
        "in preformatted text": "<pre>shown <b hidden>WORDS</b></pre>",
        "in a button": "<button>Shown <span style='display:none'>WORDS</span></button>",
        "in a link": "<p><a href='/x'>Shown <span style='visibility:hidden'>WORDS</span></a></p>",
        "beside a button's words": "<button>Shown <span style='position:absolute;left:-9999px'>WORDS</span></button>",
        "clipped in a link": "<p><a href='/y'>Shown <span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)'>WORDS</span></a></p>",
        "without ink in a link": "<p><a href='/z'>Shown <span style='font-size:0'>WORDS</span></a></p>",
        "in a label": "<label><input type=checkbox> Shown <span hidden>WORDS</span></label>",
        "in a caption": "<table><caption>Shown <b style='opacity:0'>WORDS</b></caption><tr><td>Shown<td>Shown</table>",
        "in a summary": "<details open><summary>Shown <i hidden>WORDS</i></summary><p>Shown.</p></details>",
        "in a legend": "<fieldset><legend>Shown <i style='display:none'>WORDS</i></legend><input aria-label=Shown></fieldset>",
    },
    "in letters without shape": {
        "tag characters": "<p>Shown TAGGED</p>",
        "variation selectors": "<p>Shown SELECTED</p>",
        "tag characters in a link": "<p><a href='/x'>Shown TAGGED</a></p>",
        "variation selectors in a button": "<button>Shown SELECTED</button>",
    },
    "under a layer": {
        "negative z-index": "<div style='position:relative;isolation:isolate'><p style='position:absolute;z-index:-1'>WORDS</p><div style='background:#fff;height:9em'>Shown</div></div>",
        "opaque sibling": "<div style='position:relative'><p>WORDS</p><div style='position:absolute;inset:0;background:#fff'>Shown</div></div>",
        "pulled over": "<p>WORDS</p><div style='position:relative;margin-top:-9em;height:9em;background:#fff'>Shown</div>",
        "same cell of a grid": "<div style='display:grid'><p style='grid-area:1/1'>WORDS</p><div style='grid-area:1/1;background:#fff;position:relative'>Shown</div></div>",
        "generated layer": '<style>.l5{position:relative}.l5::after{content:"";position:absolute;inset:0;background:#fff}</style><p class=l5>WORDS</p>',
        "layer that lets taps through": "<div style='position:relative'><p>WORDS</p><div style='position:absolute;inset:0;background:#fff;pointer-events:none'>Shown</div></div>",
        "picture": '<div style=\'position:relative\'><p>WORDS</p><img alt=Shown style=\'position:absolute;inset:0;width:100%;height:100%\' src=\'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><rect width="9999" height="9999" fill="white"/></svg>\'></div>',
    },
    "generated": {
        "display: none": '<style>.g1::before{content:"WORDS";display:none}</style><p class=g1>Shown.</p>',
        "transparent": '<style>.g2::before{content:"WORDS";color:transparent}</style><p class=g2>Shown.</p>',
        "font-size: 0": '<style>.g3::before{content:"WORDS";font-size:0}</style><p class=g3>Shown.</p>',
        "opacity: 0": '<style>.g4::before{content:"WORDS";opacity:0}</style><p class=g4>Shown.</p>',
        "visibility: hidden": '<style>.g5::before{content:"WORDS";visibility:hidden}</style><p class=g5>Shown.</p>',
        "left of the page": '<style>.g6::before{content:"WORDS";position:absolute;left:-9999px}</style><p class=g6>Shown.</p>',
        "attr() without ink": "<style>.g7::after{content:attr(data-g);color:transparent}</style><p class=g7 data-g='WORDS'>Shown.</p>",
        "in a button, transparent": '<style>.g8::before{content:"WORDS";color:transparent}</style><button class=g8>Shown</button>',
        "in a button, left of the page": '<style>.g9::before{content:"WORDS";position:absolute;left:-9999px}</style><button class=g9>Shown</button>',
        "in a button, clipped": '<style>.g10::before{content:"WORDS";position:absolute;clip:rect(0 0 0 0)}</style><button class=g10>Shown</button>',
        "in a button, scaled": '<style>.g11::before{content:"WORDS";display:inline-block;transform:scale(0)}</style><button class=g11>Shown</button>',
        "in a button, visibility": '<style>.g12::before{content:"WORDS";visibility:hidden}</style><button class=g12>Shown</button>',
        "of what is hidden": '<style>.g13::before{content:"WORDS"}</style><p class=g13 hidden>Shown.</p>',
    },
    "slots, ruby, mathematics": {
        "content without a slot": "<div><template shadowrootmode=open><p>Shown</p></template><p>WORDS</p></div>",
        "slot that is not there": "<div><template shadowrootmode=open><slot></slot></template><p slot=none>WORDS</p></div>",
        "slot not shown": "<div><template shadowrootmode=open><slot style='display:none'></slot></template><p>WORDS</p></div>",
        "fallback of a filled slot": "<div><template shadowrootmode=open><slot><p>WORDS</p></slot></template><p>Shown</p></div>",
        ":host not shown": "<div><template shadowrootmode=open><style>:host{display:none}</style><slot></slot></template><p>WORDS</p></div>",
        "::slotted() without ink": "<div><template shadowrootmode=open><style>::slotted(p){color:transparent}</style><slot></slot></template><p>WORDS</p></div>",
        "hidden in a shadow root": "<div><template shadowrootmode=open><p style='opacity:0'>WORDS</p><p>Shown</p></template></div>",
        "phantom": "<math><mphantom><mtext>WORDS</mtext></mphantom><mi>x</mi></math>",
        "annotation": "<math><semantics><mi>x</mi><annotation>WORDS</annotation></semantics></math>",
        "annotation-xml": "<math><semantics><mi>x</mi><annotation-xml encoding='text/plain'>WORDS</annotation-xml></semantics></math>",
        "second child of an action": "<math><maction actiontype=toggle><mi>x</mi><mtext>WORDS</mtext></maction></math>",
        "mathematics without ink": "<math><mtext style='color:transparent'>WORDS</mtext><mi>x</mi></math>",
        "ruby parenthesis": "<p><ruby>Shown<rp>WORDS</rp><rt>Shown</rt></ruby></p>",
        "ruby text not shown": "<p><ruby>Shown<rt style='display:none'>WORDS</rt></ruby></p>",
        "ruby text without ink": "<p><ruby>Shown<rt style='visibility:hidden'>WORDS</rt></ruby></p>",
    },
}

#: Text that a person does see, or can scroll to.
SEEN: dict[str, str] = {
    "plain": "<p>WORDS</p>",
    "below the fold": "<div style='height:3000px'></div><p>WORDS</p>",
    "scrolled out": "<div style='height:50px;overflow:auto'><div style='height:900px'></div><p>WORDS</p></div>",
    "display: contents": "<div style='display:contents'><p>WORDS</p></div>",
    "visible in what is invisible": "<div style='visibility:hidden'><p style='visibility:visible'>WORDS</p></div>",
    "white on dark": "<div style='background:#000'><p style='color:#fff'>WORDS</p></div>",
    "white on a picture": "<div style='background:linear-gradient(#000,#222)'><p style='color:#fff'>WORDS</p></div>",
    "half transparent": "<p style='opacity:.5'>WORDS</p>",
    "flat but overflowing": "<div style='height:0'><p>WORDS</p></div>",
    "shown by a later rule": "<style>.s1{display:none}.s1.open{display:block}</style><p class='s1 open'>WORDS</p>",
    "shown by a more specific rule": "<style>#s2{display:block}.s2{display:none}</style><p id=s2 class=s2>WORDS</p>",
    "hidden only in print": "<style>@media print{.s3{display:none}}</style><p class=s3>WORDS</p>",
    "hidden only on wide screens": "<style>@media (min-width:900px){.s4{display:none}}</style><p class=s4>WORDS</p>",
    "hidden only while hovered": "<style>.s5:hover{opacity:0}</style><p class=s5>WORDS</p>",
    "shown by its own style": "<style>.s6{display:none}</style><p class=s6 style='display:block'>WORDS</p>",
}

_BEFORE = """<!doctype html><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>The kettle</title><article aria-label="The kettle"><h1>The kettle</h1>"""
_SENTENCE = "The {word} boils in the kitchen, and everybody in the house hears it, because kettles are loud."


def of_group(group: str) -> dict[str, str]:
    """The tricks of a group by `group: name`."""
    return {f"{group}: {name}": html for name, html in TRICKS[group].items()}


def page_of(fragments: dict[str, str], word: str) -> str:
    """A page with all fragments; the words of the n-th contain `word` + n."""
    parts = [_BEFORE]
    for number, html in enumerate(fragments.values()):
        sentence = _SENTENCE.format(word=f"{word}{number}x")
        filled = html.replace("WORDS", sentence).replace("TAGGED", _tagged(sentence))
        parts.append(f"<section style='color:#222'>{filled.replace('SELECTED', _selected(sentence))}</section>")
    return "\n".join([*parts, "</article>"])


def found_in(text: str, fragments: dict[str, str], word: str) -> set[str]:
    """The fragments whose words are in the text, also in letters without shape."""
    text = text.translate(_SHAPELESS)
    return {name for number, name in enumerate(fragments) if f"{word}{number}x" in text}


def _tagged(text: str) -> str:
    """In tag characters (Unicode §23.9)."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


def _selected(text: str) -> str:
    """In variation selectors, one for each byte from 16 on."""
    return "".join(chr(0xE0100 + ord(letter) - 16) for letter in text)


_SHAPELESS = {ord(make(chr(code))): chr(code) for make in (_tagged, _selected) for code in range(0x20, 0x7F)}
