/**
 * The roles: name, sum of flags, and after ":" the elements that have it by nature (none named: the one called like it;
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

/** @type {Record<string, number>} */
export const ROLE_FLAGS = {};
/** @type {Record<string, string>} */
export const TAG_ROLES = {};
(
  'alert2 alertdialog32 application article2: banner blockquote16: button13:button,@button,@submit,@reset,@image,@file caption16: cell6 checkbox13:@checkbox ' +
  'code16: columnheader6 combobox1 comment4 complementary contentinfo definition16:dd deletion16:del,s dialog32: document emphasis16:em feed figure2: ' +
  'form generic16 graphics-document:svg graphics-object graphics-symbol grid32 gridcell6 group:address,details,fieldset,hgroup,optgroup heading6:h1,h2,h3,h4,h5,h6 image10: img10 iframe: insertion16:ins ' +
  'link5 list:dir,menu,ol,ul listbox33:datalist listitem2 log2 main2: mark16: marquee math8: menu32 menubar32 menuitem5 menuitemcheckbox13 ' +
  'menuitemradio13 meter10: navigation2:nav none16:@hidden note option13: paragraph16:p presentation16 progressbar10:progress radio13:@radio radiogroup32 ' +
  'region2 row4:tr rowgroup20:tbody,tfoot,thead rowheader6 scrollbar8 search: searchbox1:@search sectionfooter16 sectionheader16 separator8:hr ' +
  'slider9:@range spinbutton1:@number status2:output strong16: subscript16:sub suggestion16 superscript16:sup switch13 tab13 table: tablist32 tabpanel ' +
  'term16:dfn,dt textbox1:textarea time16: timer toolbar32 tooltip6 tree32 treegrid32 treeitem5'
).replace(/([a-z-]+)(\d*)(:?)(\S*)/g, (_, role, flags, natural, tags) => {
  ROLE_FLAGS[role] = +flags;
  if (natural) for (const tag of (tags || role).split(',')) TAG_ROLES[tag] = role;
});
