/** A picture that is made larger by the wheel, by a double click and by keys, and moved by dragging. */

const MOST = 8;
const STEP = 1.5;
const PER_PIXEL = 0.002;

export class Zoom {
  #frame;
  #image = null;
  #scale = 1;
  #x = 0;
  #y = 0;
  #from = null;

  /** `frame` holds the picture in its middle. */
  constructor(frame) {
    this.#frame = frame;
    frame.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.#zoom(this.#scale * Math.exp(-event.deltaY * PER_PIXEL), event);
    });
    frame.addEventListener("dblclick", (event) => this.#zoom(this.isLarger ? 1 : STEP * STEP, event));
    frame.addEventListener("pointerdown", (event) => this.#begin(event));
    frame.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of ["pointerup", "pointercancel"]) {
      frame.addEventListener(name, () => {
        this.#from = null;
      });
    }
  }

  get isLarger() {
    return this.#scale > 1;
  }

  /** Show another picture, as a whole. */
  take(image) {
    this.#image = image;
    this.#put(1, 0, 0);
  }

  /** Whether a key was meant for it: plus, minus or 0. */
  takes({ key }) {
    const factor = { "+": STEP, "-": 1 / STEP, 0: 1 / this.#scale }[key];
    if (factor) this.#zoom(this.#scale * factor);
    return factor !== undefined;
  }

  /** The part under the pointer stays there. */
  #zoom(wanted, pointer = null) {
    const scale = Math.min(MOST, Math.max(1, wanted));
    const { left, top, width, height } = this.#frame.getBoundingClientRect();
    const x = pointer ? pointer.clientX - left - width / 2 : 0;
    const y = pointer ? pointer.clientY - top - height / 2 : 0;
    const ratio = scale / this.#scale;
    this.#put(scale, x - (x - this.#x) * ratio, y - (y - this.#y) * ratio);
  }

  #begin({ isPrimary, clientX, clientY }) {
    if (isPrimary && this.isLarger) this.#from = { x: clientX - this.#x, y: clientY - this.#y };
  }

  #drag({ isPrimary, clientX, clientY }) {
    if (!isPrimary || !this.#from) return;
    this.#put(this.#scale, clientX - this.#from.x, clientY - this.#from.y);
  }

  /** Not further than to its edges. */
  #put(scale, x, y) {
    const { offsetWidth: width = 0, offsetHeight: height = 0 } = this.#image ?? {};
    const within = (wanted, size) => {
      const most = (size * (scale - 1)) / 2;
      return Math.max(-most, Math.min(most, wanted));
    };
    [this.#scale, this.#x, this.#y] = [scale, within(x, width), within(y, height)];
    this.#frame.toggleAttribute("data-larger", scale > 1);
    if (this.#image) this.#image.style.transform = `translate(${this.#x}px, ${this.#y}px) scale(${scale})`;
  }
}
