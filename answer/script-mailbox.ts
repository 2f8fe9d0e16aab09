// Shared memory between an answering thread and its script helper: one question, one answer.
import { bundleLimits } from '#bundle/format/limits.ts'
import { nameLimits } from '#dns/name.ts'

/**
 * Words of a mailbox. A question has the number after the last one; it is open while `Answered` is
 * not `Asked`. Until then the mailbox is the helper's: nobody asks again, so that an answer that
 * comes late is to its own question, which nobody waits for any more.
 */
export const MailCell = {
  Asked: 0,
  Answered: 1,
  /** 1 while a helper is there. */
  HasHelper: 2,
  /** The generation that the helper has adopted. */
  Adopted: 3,
  /** Part of the question: the generation whose members it speaks of. */
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
  /** How many of `order` it fills. */
  Named: 16,
  /** Part of the question: which service's use of the script it is. */
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
  /** Positions in `members` of those that the script names, in its order. */
  readonly order: Uint32Array

  constructor(shared: SharedArrayBuffer) {
    this.cells = new Int32Array(shared, 0, MailCell.Words)
    this.qname = new Uint8Array(shared, qnameAt, nameLimits.bytesMax)
    this.members = new Uint32Array(shared, membersAt, bundleLimits.membersPerPoolMax)
    this.order = new Uint32Array(shared, orderAt, bundleLimits.membersPerPoolMax)
  }
}

/** What an answering thread and a helper must know of a generation's scripts. */
export interface ScriptSet {
  /** By script number. */
  readonly bodies: readonly string[]
  /** Uint32; see ScriptSeats. */
  readonly seatStarts: SharedArrayBuffer
  /** Uint32; see ScriptSeats. */
  readonly seatScripts: SharedArrayBuffer
  /** Int32 by seat: runs in a row that used up their time; see `strikesMax`. */
  readonly strikes: SharedArrayBuffer
}

/** A seat with so many strikes is not run. */
export const strikesMax = 3
