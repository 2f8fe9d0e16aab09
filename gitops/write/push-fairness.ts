// Makes a node that keeps winning the race for a remote pause, so that other writers win as well.
import { gitLimits } from '#gitops/limits.ts'

/**
 * The winner of a race has the newest commit in memory, while a loser has to fetch it first:
 * without pauses, the winner of one race would win nearly all that follow. A winner cannot see
 * others wait, so it yields now and then, and more often where it has met others.
 */
export class PushFairness {
  #metAtMs = -Infinity
  #wins = 0
  #rowFromMs = 0
  #wonAtMs = -Infinity
  /** Duration of the last try, from its beginning to the answer. */
  #roundMs = 0
  #fetchMs = 0

  /**
   * To be called when another node has written.
   *
   * @param nowMs of the monotonic clock, as below
   * @param fetchMs how long the fetch of its commit took; left out: it is not fetched yet
   */
  meet(nowMs: number, fetchMs = this.#fetchMs): void {
    this.#metAtMs = nowMs
    this.#wins = 0
    this.#fetchMs = fetchMs
  }

  win(nowMs: number, roundMs: number): void {
    if (this.#wins++ === 0) this.#rowFromMs = nowMs - roundMs
    this.#wonAtMs = nowMs
    this.#roundMs = roundMs
  }

  /**
   * How long to yield before a new batch; 0: it is this node's turn.
   *
   * @param random 0 up to, not including, 1
   */
  yieldMs(nowMs: number, random: number): number {
    const { writeRivalsMs, writeRowMs, writeWinsMax, writeWinsAmongRivalsMax } = gitLimits
    const isMet = nowMs - this.#metAtMs < writeRivalsMs
    const isAmongRivals = isMet || nowMs - this.#rowFromMs >= writeRowMs
    const others =
      Math.max(isMet ? this.#fetchMs : 0, this.#roundMs) + this.#roundMs * (roundsOfOthers + random)
    const room = Math.min(others, gitLimits.writeRoomMaxMs)
    // A node that was idle for so long has yielded already.
    const idleMs = nowMs - this.#wonAtMs
    if (idleMs >= room) this.#wins = 0
    if (this.#wins < (isAmongRivals ? writeWinsAmongRivalsMax : writeWinsMax)) return 0
    this.#wins = 0
    return room - idleMs
  }
}

/** Tries of a rival: one that is lost already, and after the fetch one that is not. */
const roundsOfOthers = 2
