// Shared memory between an answering thread and its script helper: one question, one answer.
import { bundleLimits } from '#bundle/format/limits.ts'
import { nameLimits } from '#dns/name.ts'

/**
 * Words of a mailbox. A question is open while `Answered` differs from `Asked`; its number is one
 * more than the last. Until it is closed the mailbox belongs to the helper and nobody asks again,
 * so a late answer can only be to its own question, for which nobody waits any more.
 */
export const MailCell = {
  Asked: 0,
  Answered: 1,
  /** 1 while a helper runs. */
  HasHelper: 2,
  /** The generation that the helper has adopted. */
  Adopted: 3,
  /** Part of the question: the generation of the members. */
  Generation: 4,
  Script: 5,
  Count: 6,
  IsIpv6: 7,
  /** Four words of the client's address. */
  Client: 8,
  /** 1: AAAA. */
  IsV6: 12,
  QnameBytes: 13,
  Seed: 14,
  /** Part of the answer: one of ScriptOutcome. */
  Outcome: 15,
  /** Number of entries in `order`. */
  Named: 16,
  /** Part of the question: the service's use of the script. */
  Seat: 17,
  Words: 32,
} as const

const qnameAt = MailCell.Words * 4
const membersAt = qnameAt + ((nameLimits.bytesMax + 4) & ~3)
const orderAt = membersAt + bundleLimits.membersPerPoolMax * 4

export class Mailbox {
  static bytes = orderAt + bundleLimits.membersPerPoolMax * 4
  readonly cells: Int32Array
  readonly qname: Uint8Array
  /** Candidates, as members of the bundle. */
  readonly members: Uint32Array
  /** Positions in `members` that the script returned, in its order. */
  readonly order: Uint32Array

  constructor(shared: SharedArrayBuffer) {
    this.cells = new Int32Array(shared, 0, MailCell.Words)
    this.qname = new Uint8Array(shared, qnameAt, nameLimits.bytesMax)
    this.members = new Uint32Array(shared, membersAt, bundleLimits.membersPerPoolMax)
    this.order = new Uint32Array(shared, orderAt, bundleLimits.membersPerPoolMax)
  }
}

/** The scripts of a generation, as answering threads and helpers need them. */
export interface ScriptSet {
  /** By script number. */
  readonly bodies: readonly string[]
  /** Uint32; see ScriptSeats. */
  readonly seatStarts: SharedArrayBuffer
  /** Uint32; see ScriptSeats. */
  readonly seatScripts: SharedArrayBuffer
  /** Int32 by seat: consecutive runs that exceeded their time; see `strikesMax`. */
  readonly strikes: SharedArrayBuffer
}

/** Strikes at which a seat is suspended. */
export const strikesMax = 3
