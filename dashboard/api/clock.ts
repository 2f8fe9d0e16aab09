// The one clock of the dashboard.

/** Unix milliseconds. */
export const nowMs = (): number => Date.now()
