import { Component, createElement, type FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

/** A component that is not rendered again while `same` holds of its properties. */
export function memo<P extends object>(view: FunctionComponent<P>, same: (before: P, after: P) => boolean): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>) {
      return !same(this.props as P, next);
    }
    override render() {
      return createElement(view, this.props as P);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}

/** Something that changes and tells so. */
export class Observable {
  private readonly listeners = new Set<() => void>();

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  protected changed(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Renders the component again whenever `observable` changes. */
export function useObservable(observable: Observable): void {
  const [, setCount] = useState(0);
  useEffect(() => observable.subscribe(() => setCount((count) => count + 1)), [observable]);
}
