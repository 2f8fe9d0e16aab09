// Smooths the round-trip time of a member: small changes do not move it.
import { healthLimits } from '#health/limits.ts'

export class RttAverage {
  readonly #samples: number[] = []
  #next = 0
  /** 0: there were too few probes. */
  publishedMs = 0

  /**
   * Adds the time of a successful probe; a probe without a measurement has no effect.
   *
   * @param thresholdMs a mean that moves by less keeps its value (hysteresis)
   * @returns true when `publishedMs` changed
   */
  add(rttMs: number, thresholdMs: number): boolean {
    if (!(rttMs > 0)) return false
    this.#samples[this.#next] = rttMs
    this.#next = (this.#next + 1) % healthLimits.rttProbesMax
    const count = this.#samples.length
    if (count < healthLimits.rttProbesMin) return false
    let sum = 0
    for (const sample of this.#samples) sum += sample
    const meanMs = sum / count
    const movedMs = Math.abs(meanMs - this.publishedMs)
    if (movedMs === 0 || (this.publishedMs > 0 && movedMs < thresholdMs)) return false
    this.publishedMs = meanMs
    return true
  }
}
