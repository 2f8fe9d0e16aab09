// Defines the interface of what signs rrsets as they are answered.
import type { NameTypes } from './name-types.ts'

/** What a signer sees of the reply that is being written: its transaction. */
export interface OpenReply {
  readonly reply: Uint8Array
  readonly replyView: DataView
  /** Where the message begins in `reply`. */
  readonly replyStart: number
  /** Where the next octet goes; a signer moves it. */
  at: number
  /** Where records must end. */
  readonly recordsEnd: number
  readonly isOverTcp: boolean
  /** True: rrsets are unlimited, as a client chose the name or several members are drawn. */
  readonly isAnyName: boolean
  /** The name that is answered for, at its end; the same in words. */
  readonly qname: Uint8Array
  readonly qnameWords: Uint32Array
  /** What the NSEC record that was written last says. */
  readonly nameTypes: NameTypes
}

/** A `part` for an rrset that may differ in each answer. */
export const unknownPart = -1

/** Makes the `part` of an rrset of one member. @param member its row in the bundle */
export function memberPart(member: number): number {
  return -2 - member
}

/** Returned instead of a count: the zone must be signed, and this node lacks a key of it. */
export const cannotSign = -2

/** Stands for no such name below `_signal`, where else the row of a zone stands. */
export const noSignal = -2
/** Stands for a name without records that has names below it. */
export const emptySignal = -1

/** The label below the name of a name server. RFC 9615 section 2. */
export const signalLabel = Uint8Array.from(Buffer.from('\x07_signal', 'latin1'))

/** Signs on the answer path, without waiting. Repeated signatures allocate nothing. */
export interface Signer {
  /** Whether answers of a zone are signed, or must be. @param zone row in the bundle */
  signs(zone: number): boolean
  /**
   * Writes RRSIG records behind an rrset of one of our zones, for a client that sent DO. They name
   * the zone whole (RFC 4034 section 3.1.7).
   *
   * @param zone row of the zone in the bundle
   * @param owner offset of the owner name from the start of the message
   * @param start of the first record in `to.reply`; the last one ends at `to.at`
   * @param node row of the one whose name is the owner
   * @param part which of its rrsets, as the bundle has it: the row; or `memberPart`; `unknownPart`
   * @returns how many were written; -1: they do not fit; `cannotSign`
   */
  sign(
    to: OpenReply,
    zone: number,
    owner: number,
    type: number,
    start: number,
    node: number,
    part: number,
  ): number
  /**
   * The same for the NSEC record of a compact denial. RFC 9824.
   *
   * @param name where its owner begins in `to.qname`, whose types are in `to.nameTypes`
   */
  signDenial(to: OpenReply, zone: number, owner: number, start: number, name: number): number
  /**
   * Rdata of the records of a zone's keys.
   *
   * @param type DNSKEY, CDS or CDNSKEY
   * @returns undefined: no key is here
   */
  keyRdata(zone: number, type: number): readonly Uint8Array[] | undefined
  /** False: there is no signal at any name. */
  readonly hasSignals: boolean
  /**
   * @param octets has a name in lower case from `start` on
   * @returns a row, or `noSignal`
   */
  signalAt(octets: Uint8Array, start: number): number
}

/** No zone is signed. */
export const noSigner: Signer = Object.freeze({
  signs: () => false,
  sign: () => 0,
  signDenial: () => 0,
  keyRdata: () => undefined,
  hasSignals: false,
  signalAt: () => noSignal,
})
