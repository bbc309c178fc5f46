/**
 * The role table. build.mjs replaces the values in this module by the packed contents of roles.json; the declarations
 * are here for readers and the type checker.
 */

/** Takes input: always has a ref. */
export const INTERACTIVE = 1;
/** Has a ref when it is named. */
export const CONTENT = 2;
/** ARIA's "name from: contents". */
export const NAME_FROM_CONTENT = 4;
/** ARIA's "children presentational: true". */
export const CHILDREN_PRESENTATIONAL = 8;
/** Never a node of its own in a snapshot: its content stands for it. */
export const TRANSPARENT = 16;
/** Adds nothing to the name of an element around it. */
export const OMITTED_FROM_NAMES = 32;
/** In snapshots its content is not repeated after its name. */
export const SAID_BY_NAME = 64;

/** Inside a label its value stands for it: what is written or chosen, or a number. */
export const TEXT_VALUE = 128, RANGE_VALUE = 256;
/** Has its role by nature only in a table with one. */
export const TABLE_PART = 512;
/** A header or footer in it is one of a section. */
export const SECTIONING = 1024;
/** Has its role only when it is named. */
export const NEEDS_NAME = 2048;

/** The traits above, summed, by role. @type {Record<string, number>} */
export const ROLE_TRAITS = {};
/**
 * The role of an element by its tag, or of an input by "@" and its type; by "=" and a token of `role` the role that it
 * is a synonym of; by ">" and the first eight letters of a role the one that it needs around it.
 * @type {Record<string, string>}
 */
export const TAG_ROLES = {};
