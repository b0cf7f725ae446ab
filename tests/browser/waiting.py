"""How scripts of tests wait on a page: for what is to happen, never for a time."""

WAITING = """
    const inTime = setTimeout;
    const pass = (ms) => new Promise((resolve) => inTime(resolve, ms));
    const until = async (isSo) => {
      const begun = performance.now();
      while (!isSo()) {
        if (performance.now() - begun > 60_000) throw new Error(`not within 60 seconds: ${isSo}`);
        await pass(5);
      }
    };
"""

TIMERS = """
    /** How many times as fast as usual a pause passes. */
    let pace = 1;
    const timers = new Map();
    const notInTime = clearTimeout;
    globalThis.setTimeout = (work, ms) => {
      const id = inTime(() => {
        timers.delete(id);
        work();
      }, ms / pace);
      timers.set(id, work);
      return id;
    };
    globalThis.clearTimeout = (id) => {
      timers.delete(id);
      notInTime(id);
    };
    /** Whatever waits for its time has it now. */
    const elapse = async () => {
      for (const [id, work] of [...timers]) {
        clearTimeout(id);
        work();
      }
      await pass(0);
    };
"""
"""Behind `WAITING`."""
