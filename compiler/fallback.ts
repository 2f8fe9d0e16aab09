// The pool that stands in for the pool of a service when none of its members is healthy.

const prefix = 'pool:'

/** @returns the name of the pool, or undefined when no pool stands in */
export function fallbackPoolOf({ onAllDown }: { readonly onAllDown: string }): string | undefined {
  return onAllDown.startsWith(prefix) ? onAllDown.slice(prefix.length) : undefined
}
