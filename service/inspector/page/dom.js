// Elements. Whatever a page shows goes through here, as text: nothing is ever parsed as HTML.

// element returns an element with attributes and children. A child is an element, or a text.
export function element(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

// drawing returns an element of a drawing.
export function drawing(name, attributes = {}, ...children) {
  return dressed(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function dressed(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      made.addEventListener(key.slice(2), value);
    } else if (value === true) {
      made.setAttribute(key, "");
    } else if (value !== undefined && value !== false) {
      made.setAttribute(key, String(value));
    }
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

// fill replaces what an element holds. The focus does not go with it: the part of the page that it was in has it then.
export function fill(target, ...children) {
  const held = target.contains(document.activeElement) && target !== document.activeElement;
  target.replaceChildren(...children.filter((child) => child !== undefined));
  if (held) {
    target.closest("[tabindex]")?.focus({ preventScroll: true });
  }
}
