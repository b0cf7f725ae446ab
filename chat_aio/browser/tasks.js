/** When work runs. */

/** `work` as a function that never runs twice at once: a call during a run makes it run again. */
export function inTurn(work) {
  let running = null;
  let again = false;
  const runAll = async () => {
    try {
      do {
        again = false;
        await work();
      } while (again);
    } finally {
      running = null;
    }
  };
  return () => {
    again = true;
    running ??= runAll();
    return running;
  };
}

/** A function that runs its last argument, `pauseMs` after the last call. */
export function later(pauseMs) {
  let timer = null;
  return (work) => {
    clearTimeout(timer);
    timer = setTimeout(work, pauseMs);
  };
}

/**
 * `work` as a function that runs once for all calls: when none has come for `pauseMs`, but at most
 * `longestMs` after the first.
 */
export function settled(pauseMs, longestMs, work) {
  let timer = null;
  let latest = 0;
  return () => {
    const now = performance.now();
    if (timer === null) latest = now + longestMs;
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      work();
    }, Math.min(pauseMs, latest - now));
  };
}

/** `work` runs when a day starts in the reader's time zone; the returned function ends that. */
export function eachDay(work) {
  let timer = null;
  const wait = () => {
    const now = new Date();
    const next = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
    timer = setTimeout(() => {
      wait();
      work();
    }, next - now);
  };
  wait();
  return () => clearTimeout(timer);
}

/** `work` as a function that runs once for all calls within `pauseMs`. */
export function gathered(pauseMs, work) {
  let timer = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      work();
    }, pauseMs);
  };
}
