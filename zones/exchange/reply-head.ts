// Writes the header and the question of a reply.
import { Flag1, HeaderOffset, Opcode } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'

export function opcodeOf(message: Uint8Array): number {
  return (message[HeaderOffset.Flags1]! & Flag1.OpcodeMask) >> 3
}

/** Writes the header and the question of a reply without records. @returns octets written */
export function writeHead(message: Uint8Array, rcode: number, into: Uint8Array): number {
  const flags = message[HeaderOffset.Flags1]!
  const questionEnd = endOfQuestion(message)
  into.set(message.subarray(0, questionEnd))
  into[HeaderOffset.Flags1] = Flag1.Qr | (flags & (Flag1.OpcodeMask | Flag1.Rd))
  into[HeaderOffset.Flags2] = rcode
  into.fill(0, HeaderOffset.QdCount, HeaderOffset.End)
  if (questionEnd > HeaderOffset.End) into[HeaderOffset.QdCount + 1] = 1
  return questionEnd
}

/** End of the question; of the header where there is no question, several, or an unreadable one. */
function endOfQuestion(message: Uint8Array): number {
  const opcode = opcodeOf(message)
  const isOne = message[HeaderOffset.QdCount] === 0 && message[HeaderOffset.QdCount + 1] === 1
  const isAsking = opcode === Opcode.Query || opcode === Opcode.Notify
  if (!isAsking || !isOne) return HeaderOffset.End
  const name = readMessageName(message, HeaderOffset.End)
  // A pointer is invalid here: no name stands before the question.
  const isWhole = name !== undefined && name.end - HeaderOffset.End === name.wire.length
  return isWhole && name.end + 4 <= message.length ? name.end + 4 : HeaderOffset.End
}
