/**
 * The roles by the sum of their flags: name, and after ":" the elements that have it by nature (none named: the one called like it;
 * "@" stands before an input type).
 *
 * Sources: WAI-ARIA 1.3 §5.4 (roles, "name from", "children presentational"), HTML-AAM 1.0 §3.5, SVG-AAM 1.0 §6.
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

/** In snapshots its content is its name, and said by that. */
export const SAYS_IT = 64;

/** @type {Record<string, number>} */
export const ROLE_FLAGS = {};
/** @type {Record<string, string>} */
export const TAG_ROLES = {};
let flags;
(
  '0 application banner:header complementary:aside contentinfo:footer document feed form: graphics-document:svg group:address,details,fieldset,hgroup,optgroup iframe: list:dir,menu,ol,ul note search: table: tabpanel timer ' +
  '9 combobox:select searchbox:@search slider:@range spinbutton:@number textbox:textarea,input ' +
  '2 alert article: figure: listitem:li log main: navigation:nav region:section status:output ' +
  '4 row:tr ' +
  '69 link:a,area menuitem treeitem ' +
  '6 cell:td columnheader:th gridcell rowheader tooltip ' +
  '70 heading:h1,h2,h3,h4,h5,h6 ' +
  '8 math: scrollbar separator:hr ' +
  '10 img:img,image meter: progressbar:progress ' +
  '77 button:button,summary,@button,@submit,@reset,@image,@file checkbox:@checkbox menuitemcheckbox menuitemradio option: radio:@radio switch tab ' +
  '16 blockquote: caption: code: definition:dd deletion:del,s emphasis:em insertion:ins mark: none:@hidden paragraph:p presentation strong: subscript:sub superscript:sup term:dfn,dt time: ' +
  '80 generic ' +
  '20 rowgroup:tbody,tfoot,thead ' +
  '32 alertdialog dialog: grid menu menubar radiogroup tablist toolbar tree treegrid ' +
  '33 listbox:datalist'
).replace(/(\d+)|([a-z-]+)(:?)(\S*)/g, (_, sum, role, natural, tags) => {
  if (sum) flags = +sum;
  else {
    ROLE_FLAGS[role] = flags;
    if (natural) for (const tag of (tags || role).split(',')) TAG_ROLES[tag] = role;
  }
});
