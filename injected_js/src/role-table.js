/**
 * What the roles are, packed as text: `role` + the sum of its flags.
 *
 * Sources: WAI-ARIA 1.3 §5.4 (roles, "name from", "children presentational", required parents), HTML-AAM 1.0 §3.5
 * (elements), SVG-AAM 1.0 §6 (graphics).
 */

/** It takes input: always has a ref. */
export const INTERACTIVE = 1;
/** It is worth a ref when it is named. */
export const CONTENT = 2;
/** "Name from: contents". */
export const FROM_CONTENT = 4;
/** "Children presentational: true". */
export const LEAF = 8;
/** Never a node of its own in a snapshot: what is in it speaks for itself. */
export const THIN = 16;
/** Adds nothing to the name of what it stands in. */
export const APART = 32;

const flags = {};
(
  'alert2 alertdialog32 application article2 banner blockquote16 button13 caption16 cell6 checkbox13 code16 columnheader6 ' +
  'combobox1 comment4 complementary contentinfo definition16 deletion16 dialog32 document emphasis16 feed figure2 ' +
  'form generic16 grid32 gridcell6 group heading6 image10 img10 iframe insertion16 link5 list listbox33 listitem2 log2 ' +
  'main2 mark16 marquee math8 menu32 menubar32 menuitem5 menuitemcheckbox13 menuitemradio13 meter10 navigation2 none16 note ' +
  'option13 paragraph16 presentation16 progressbar10 radio13 radiogroup32 region2 row4 rowgroup20 rowheader6 scrollbar8 ' +
  'search searchbox1 sectionfooter16 sectionheader16 separator8 slider9 spinbutton1 status2 strong16 subscript16 ' +
  'suggestion16 superscript16 switch13 tab13 table tablist32 tabpanel term16 textbox1 time16 timer toolbar32 tooltip6 ' +
  'tree32 treegrid32 treeitem5'
).replace(/([a-z]+)(\d*)/g, (_, role, sum) => (flags[role] = +sum));
export const ROLE_FLAGS = flags;

/** Elements whose role depends on nothing else. */
const tags = {};
(
  'address:group article:article blockquote:blockquote button:button caption:caption code:code datalist:listbox ' +
  'dd:definition del:deletion details:group dfn:term dialog:dialog dir:list dt:term em:emphasis fieldset:group figure:figure ' +
  'h1:heading h2:heading h3:heading h4:heading h5:heading h6:heading hgroup:group hr:separator iframe:iframe frame:iframe ' +
  'ins:insertion main:main mark:mark math:math menu:list meter:meter nav:navigation ol:list optgroup:group option:option ' +
  'output:status p:paragraph progress:progressbar s:deletion search:search strong:strong sub:subscript sup:superscript ' +
  'svg:graphics-document table:table tbody:rowgroup textarea:textbox tfoot:rowgroup thead:rowgroup time:time tr:row ul:list ' +
  'image:image'
).replace(/(\S+):(\S+)/g, (_, tag, role) => (tags[tag] = role));
export const TAG_ROLES = tags;

/** `<input type>`; what is not here is a textbox. */
const inputs = {};
'button:button submit:button reset:button image:button file:button checkbox:checkbox radio:radio range:slider number:spinbutton search:searchbox'.replace(
  /(\S+):(\S+)/g,
  (_, type, role) => (inputs[type] = role),
);
export const INPUT_ROLES = inputs;

/** Required parents (ARIA §5.2.8) of the roles that core-aam §5.1.2 lets fall without them. */
export const PARENTS = {
  listitem: /^(list|directory|feed)$/,
  menuitem: /^(group|menu|menubar)$/,
  menuitemcheckbox: /^(group|menu|menubar)$/,
  menuitemradio: /^(group|menu|menubar)$/,
  option: /^(group|listbox)$/,
  tab: /^tablist$/,
  treeitem: /^(group|tree|treeitem)$/,
};
