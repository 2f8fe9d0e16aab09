// The only source of randomness in tests: the same seed gives the same run on any machine.

/** A whole number of the environment; `fallback` without one. */
function numberFrom(name: string, fallback: number): number {
  const text = process.env[name] ?? ''
  if (text === '') return fallback
  if (!/^-?\d{1,10}$/.test(text)) throw new Error(`${name}: expected a whole number, got ${text}`)
  return Number(text)
}

/** Seed of everything random: GSLB_SEED, or always the same. */
export const testSeed = numberFrom('GSLB_SEED', 1)

/** Number of random inputs: the variable `name` of the environment, or `usual`. */
export const countFrom = (name: string, usual: number): number => numberFrom(name, usual)
