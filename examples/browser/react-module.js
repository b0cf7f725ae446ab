// React as a module, for the import maps of these pages: its own files only set the global React. A
// bundler makes this from the package.
export const {
  createContext,
  createElement,
  forwardRef,
  memo,
  StrictMode,
  useContext,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} = globalThis.React;
