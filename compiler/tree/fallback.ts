// Returns the pools that a service names: its own and its fallback.

const prefix = 'pool:'

/** @returns the name of the fallback pool, or undefined */
export function fallbackPoolOf({ onAllDown }: { readonly onAllDown: string }): string | undefined {
  return onAllDown.startsWith(prefix) ? onAllDown.slice(prefix.length) : undefined
}

/** All pools that a service names, each once. */
export function namedPoolsOf(spec: {
  readonly pool: string | null
  readonly onAllDown: string
}): readonly string[] {
  const fallback = fallbackPoolOf(spec)
  if (spec.pool === null) return fallback === undefined ? [] : [fallback]
  return fallback === undefined || fallback === spec.pool ? [spec.pool] : [spec.pool, fallback]
}
