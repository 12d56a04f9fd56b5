// Fields of a form in the fragment of the address, which browsers do not send to servers: what a link shows again.
const LONGEST = 4000; // characters of one field

// Puts what the address says into the fields of that name; what it does not say stays. Values that a field cannot have are refused.
export function fillFrom(fragment, fields) {
  const given = new URLSearchParams(fragment);
  const wrong = [];
  for (const field of fields) {
    const value = given.get(field.name);
    if (value === null) continue;
    const before = field.value;
    field.value = value.slice(0, field.maxLength > 0 ? field.maxLength : LONGEST);
    if (field.value !== value && field.value.replace(/\r/g, "") !== value.replace(/\r/g, "")) {
      wrong.push(`${field.name} is ${value.slice(0, 40)}`);
      field.value = before;
    }
  }
  if (wrong.length) throw new Error(`The link does not fit the page: ${wrong.join(", ")}. What the page begins with is shown instead.`);
}

// Writes the fields that differ from how the page began into the address, and what else is given, where it is not empty.
export function keepIn(fields, more = {}) {
  const changed = new URLSearchParams(Object.entries(more).filter(([, value]) => value));
  for (const field of fields) if (field.value !== begun(field)) changed.set(field.name, field.value);
  history.replaceState(null, "", changed.size ? `#${changed}` : location.pathname + location.search);
}

function begun(field) {
  return field instanceof HTMLSelectElement ? ([...field.options].find((option) => option.defaultSelected) ?? field.options[0]).value : field.defaultValue;
}
