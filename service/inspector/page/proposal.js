// A change that is proposed: a dialog says what it would do before it is done, and how to take it back after.

import { element, fill } from "./dom.js";
import { shown } from "./text.js";

// propose shows a dialog. ask() returns what would be done, in sentences, or throws why it cannot be done; fields are form
// fields to fill in; act() does it, and returns what was done, how to take it back, and perhaps a change that does that.
export function propose({ title, ask, fields = [], act }, signal) {
  // The button that has opened it may be gone when it is closed.
  const before = document.activeElement;
  const around = before?.closest("[tabindex]");
  const body = element("div", {}, element("p", { role: "status" }, "Asking what it would do …"));
  const heading = element("h2", { id: "proposal" }, title);
  const go = element("button", { disabled: true }, "Do it");
  const leave = element("button", { type: "button", onclick: () => dialog.close() }, "Leave it");
  const tools = element("p", { class: "tools" }, go, leave);
  const form = element("form", { onsubmit: submit }, heading, body, ...fields, tools);
  const dialog = element("dialog", { "aria-labelledby": "proposal", onclose: closed }, form);

  function closed() {
    dialog.remove();
    const back = before?.isConnected ? before : around;
    if (back instanceof HTMLElement) {
      back.focus();
    }
  }

  function say(role, ...sentences) {
    fill(body, ...sentences.filter(Boolean).map((sentence) => element("p", { role }, sentence)));
  }

  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    try {
      const { done, back, undo } = await act();
      say("status", done, back);
      for (const field of fields) {
        field.remove();
      }
      leave.textContent = "Close";
      fill(tools, undo ? element("button", { type: "button", onclick: () => { dialog.close(); propose(undo, signal); } }, "Take it back …") : undefined, leave);
      leave.focus();
    } catch (error) {
      go.disabled = false;
      say("alert", shown(error.message));
    }
  }

  async function begin() {
    try {
      say(undefined, ...await ask());
      go.disabled = false;
      (fields.length === 0 ? go : form.querySelector("input")).focus();
    } catch (error) {
      say("alert", shown(error.message));
    }
  }

  signal.addEventListener("abort", () => dialog.close(), { once: true });
  document.body.append(dialog);
  dialog.showModal();
  begin();
}
