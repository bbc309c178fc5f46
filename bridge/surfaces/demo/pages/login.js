'use strict';

const form = document.getElementById('login');
const inside = document.getElementById('inside');
const outcome = document.getElementById('outcome');

const RULES = {
  email(value) {
    if (!value) return 'Enter your e-mail address.';
    return /^\S+@\S+\.\S+$/.test(value) ? '' : 'That is not an e-mail address.';
  },
  password(value) {
    if (!value) return 'Enter your password.';
    return value.length >= 8 ? '' : `The password has at least 8 characters, this one has ${value.length}.`;
  },
};

function check(field) {
  const problem = RULES[field.name](field.value);
  document.getElementById(`${field.name}-problem`).textContent = problem;
  field.setAttribute('aria-invalid', String(Boolean(problem)));
  return !problem;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const fields = [form.elements.email, form.elements.password];
  const wrong = fields.filter((field) => !check(field));
  outcome.className = 'note bad';
  outcome.textContent = wrong.length ? 'Please correct what is marked.' : '';
  if (wrong.length) {
    wrong[0].focus();
    return;
  }
  document.getElementById('greeting').textContent = `Welcome, ${form.elements.email.value.split('@')[0]}`;
  form.hidden = true;
  inside.hidden = false;
});

for (const name of Object.keys(RULES)) {
  form.elements[name].addEventListener('input', (event) => {
    if (event.target.getAttribute('aria-invalid') === 'true') check(event.target);
  });
}

document.getElementById('leave').addEventListener('click', () => {
  form.reset();
  form.hidden = false;
  inside.hidden = true;
});
