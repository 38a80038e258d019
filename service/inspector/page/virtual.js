// A list of which only the rows in sight exist, for lists of any length.

import { element, fill } from "./dom.js";

const beyond = 6;

// Virtual shows rows that all have the same height: of all numbers below a length, or of some. rowOf(number) returns the
// element of a row, and opened(number) is called where one is chosen.
export class Virtual {
  constructor({ label, height, rowOf, opened }) {
    this.height = height;
    this.rowOf = rowOf;
    this.opened = opened;
    this.length = 0;
    this.current = 0;
    this.rows = element("div", { class: "rows" });
    this.root = element("div", {
      class: "virtual", role: "listbox", tabindex: 0, "aria-label": label,
      onscroll: () => this.draw(), onkeydown: (event) => this.key(event),
    }, this.rows);
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  // resize shows the rows of all numbers below a length.
  resize(length) {
    this.numbers = undefined;
    this.grow(length);
  }

  grow(length) {
    this.length = length;
    this.rows.style.height = `${length * this.height}px`;
    this.draw();
  }

  // pick shows the rows of some numbers, ascending.
  pick(numbers) {
    this.numbers = numbers;
    this.grow(numbers.length);
  }

  // draw makes the rows in sight anew.
  draw() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / this.height) - beyond);
    const last = Math.min(this.length, Math.ceil((this.root.scrollTop + this.root.clientHeight) / this.height) + beyond);
    const made = [];
    for (let i = first; i < last; i++) {
      const row = this.rowOf(this.numberAt(i));
      row.id = `${this.rows.dataset.of}-${i}`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(i === this.current));
      row.setAttribute("aria-posinset", String(i + 1));
      row.setAttribute("aria-setsize", String(this.length));
      row.style.top = `${i * this.height}px`;
      row.style.height = `${this.height}px`;
      row.addEventListener("click", () => this.open(i));
      made.push(row);
    }
    fill(this.rows, ...made);
    if (this.current >= first && this.current < last) {
      this.root.setAttribute("aria-activedescendant", `${this.rows.dataset.of}-${this.current}`);
    } else {
      this.root.removeAttribute("aria-activedescendant");
    }
  }

  // atEnd says whether the last row is in sight, and there is more than fits.
  atEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.root;
    return scrollHeight > clientHeight && scrollTop + clientHeight >= scrollHeight - this.height;
  }

  toEnd() {
    this.root.scrollTop = this.root.scrollHeight;
    this.draw();
  }

  numberAt(i) {
    return this.numbers ? this.numbers[i] : i;
  }

  // find shows the row of a number, or selects none where it has no row.
  find(number) {
    const i = this.numbers ? this.numbers.indexOf(number) : number ?? -1;
    if (i < 0) {
      this.none();
    } else {
      this.show(i);
    }
  }

  // show selects a row, and scrolls to it where it is out of sight.
  show(i) {
    this.current = Math.max(0, Math.min(this.length - 1, i));
    const top = this.current * this.height;
    if (top < this.root.scrollTop) {
      this.root.scrollTop = top;
    } else if (top + this.height > this.root.scrollTop + this.root.clientHeight) {
      this.root.scrollTop = top + this.height - this.root.clientHeight;
    }
    this.draw();
  }

  // none selects no row.
  none() {
    this.current = -1;
    this.draw();
  }

  open(i) {
    this.show(i);
    this.opened(this.numberAt(this.current));
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.height) - 1);
    const to = {
      ArrowDown: this.current + 1, ArrowUp: this.current - 1, PageDown: this.current + page, PageUp: this.current - page,
      Home: 0, End: this.length - 1,
    }[event.key];
    if (to !== undefined) {
      this.show(to);
    } else if ((event.key === "Enter" || event.key === " ") && this.current >= 0) {
      this.opened(this.numberAt(this.current));
    } else {
      return;
    }
    event.preventDefault();
  }
}
