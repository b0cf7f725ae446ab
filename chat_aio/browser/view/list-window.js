/** Of a long list only the rows near the reader's eyes are there; all rows are of one height. */

/** So many rows more in each direction: scrolling by some screens finds them there. */
const BEYOND = 60;
const ROW_PX = 64;

export class ListWindow {
  #list;
  #scroller;
  #changed;
  #from = 0;
  #to = 0;
  #count = 0;

  /** `list` lies in `scroller`. `changed()` is called when other rows are to be there. */
  constructor(list, scroller, changed) {
    this.#list = list;
    this.#scroller = scroller;
    this.#changed = changed;
    scroller.addEventListener("scroll", () => this.#isOutside() && changed());
  }

  /** The first row that is to be there, and the one after the last; room is kept for the others. */
  show(count) {
    const [first, last] = this.#inView();
    this.#count = count;
    this.#from = Math.max(0, Math.min(first, count) - BEYOND);
    this.#to = Math.min(count, last + BEYOND);
    this.#list.style.paddingBlockStart = `${this.#from * this.#rowPx}px`;
    this.#list.style.paddingBlockEnd = `${(count - this.#to) * this.#rowPx}px`;
    return [this.#from, this.#to];
  }

  /** Where a row lies that is to be there although it is far from the reader's eyes. */
  topOf(place) {
    return place * this.#rowPx;
  }

  /** Scroll to a row; it is there at once. */
  reveal(place) {
    const top = this.#list.offsetTop + this.topOf(place);
    const { scrollTop, clientHeight } = this.#scroller;
    if (top >= scrollTop && top + this.#rowPx <= scrollTop + clientHeight) return;
    this.#scroller.scrollTop = top - clientHeight / 2;
    this.#changed();
  }

  get #rowPx() {
    return this.#list.firstElementChild?.offsetHeight || ROW_PX;
  }

  /** Half of the rows outside may be scrolled into view before the rows are replaced. */
  #isOutside() {
    const [first, last] = this.#inView();
    const isAbove = this.#from > 0 && first - this.#from < BEYOND / 2;
    const isBelow = this.#to < this.#count && this.#to - last < BEYOND / 2;
    return isAbove || isBelow;
  }

  #inView() {
    const { scrollTop, clientHeight } = this.#scroller;
    const top = scrollTop - this.#list.offsetTop;
    const first = Math.floor(top / this.#rowPx);
    return [Math.max(0, first), Math.max(0, first + Math.ceil(clientHeight / this.#rowPx))];
  }
}
