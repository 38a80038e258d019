// The form that asks for a token.

import { setToken } from "./api.js";
import { element, fill } from "./dom.js";

// ask shows the form, and goes on with a token.
export function ask(main, why, goOn) {
  const input = element("input", { id: "token", type: "password", autocomplete: "off", required: true });
  fill(main, element("form", {
    class: "token",
    onsubmit: (event) => {
      event.preventDefault();
      setToken(input.value);
      goOn();
    },
  },
  element("h2", {}, "This daemon asks for a token"),
  element("p", {}, why),
  element("p", {}, "That of your own daemon is in the file compactord/token in $XDG_STATE_HOME or ~/.local/state. It is kept until this tab is closed."),
  element("label", { for: "token" }, "Token"), input,
  element("button", {}, "Go on")));
  input.focus();
}
