/** What a failure's code means, in words. */
const MESSAGES = {
  ref_not_found: (error, ref) => `there is no element with the ref ${ref}; take a new snapshot`,
  stale_ref: (error, ref) => `${ref} is now ${error.now}; take a new snapshot`,
  not_visible: (error, ref) => `${ref} is not visible`,
  disabled: (error, ref) => `${ref} is disabled`,
  not_editable: (error, ref) => `${ref} does not accept text`,
  not_checkable: (error, ref) => `${ref} cannot be checked`,
  not_uncheckable: (error, ref) => `${ref} cannot be unchecked`,
  not_a_select_element: (error, ref) => `${ref} is not a <select>`,
  no_such_option: (error) => `there is no option "${error.want}"; the options are ${error.options.map((option) => `"${option}"`).join(', ')}`,
  invalid_value: (error, ref) => `${ref} does not accept the value`,
  unknown_action: () => 'there is no action of this name',
};

/** The reply; a failure in it keeps its code and gains a message. */
export const explained = (reply, ref) => {
  const { error } = reply;
  if (error && !error.message) error.message = (MESSAGES[error.code] || (() => error.code.replace(/_/g, ' ')))(error, ref);
  return reply;
};
