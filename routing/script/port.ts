// The port that runs a script step in a thread that can be killed.
import type { Chain } from '#routing/chain/chain.ts'

export interface ScriptPort {
  /** Called once for each script of a bundle. @returns the number by which `run` knows it */
  readonly compile: (body: string) => number
  /**
   * Reorders the candidates as the script says and drops those that it leaves out. Takes at most
   * about 2 ms. A script that fails, takes too long or names no candidate changes nothing, and is
   * counted.
   */
  readonly run: (script: number, chain: Chain) => void
}
