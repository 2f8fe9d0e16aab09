// Writes the reply to a TKEY query behind its question, and signs it where a key was agreed on.
import { HeaderOffset } from '#dns/header.ts'
import { tkeyBytes, writeTkey } from '#dns/tkey/tkey-record.ts'
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import { assert } from '#lib/assert.ts'
import type { KeyReply } from '#zones/gss/key-exchange.ts'

/**
 * @param into has the header and the question
 * @param opt the OPT record; empty: none
 * @param isSigned the query was signed, and the caller signs the reply with the same key
 * @returns octets of the reply
 */
export function appendTkey(
  into: Uint8Array,
  at: number,
  opt: Uint8Array,
  { record, key }: KeyReply,
  isSigned: boolean,
  nowSeconds: number,
): number {
  let end = at
  if (record !== undefined) {
    const most = end + tkeyBytes(record) + opt.length + (key === undefined ? 0 : tsigBytesMax(key))
    assert(most <= into.length, 'a token of a server is shorter than a message')
    end = writeTkey(into, end, record)
    into[HeaderOffset.AnCount + 1] = 1
  }
  into.set(opt, end)
  if (opt.length > 0) into[HeaderOffset.ArCount + 1] = 1
  end += opt.length
  if (key === undefined || isSigned) return end
  // There is no MAC of the query that the signature could cover. RFC 3645 section 4.1.3.
  return new MessageSigner(key).sign(into, end, nowSeconds)
}
