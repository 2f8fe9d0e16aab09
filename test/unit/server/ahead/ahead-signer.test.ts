// The thread that signs ahead: when it starts, what it says of itself, and which memory it reads.
import { expect, test } from 'vitest'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import type { Log } from '#lib/log.ts'
import { AheadSigner } from '#server/ahead/ahead-signer.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { answering } from '#test/support/dns/signed-answers.ts'
import { signatureWrites } from '#test/support/dns/signature-writes.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { waitUntil } from '#test/support/wait-until.ts'

test('the signer starts with the first signed generation, and follows the others', async () => {
  const errors: string[] = []
  const log: Log = { info: () => {}, warn: () => {}, error: (_, text) => errors.push(text) }
  const key = generateZoneKey(signingAlgorithm(13)!)
  const keys = packKeys([{ zone: wireName(signedName), key, use: everyUse }])
  const node = answering(bundleOf(signedModel(13, ['192.0.2.10'])), keys)
  const generation = node.generation()
  const signer = new AheadSigner(log)
  const { number } = generation
  try {
    // Nobody reads what is not signed.
    signer.publish({ ...generation, signing: null })
    expect(signer.hasAdopted(number)).toBe(true)
    signer.publish({ ...generation, number: number + 1 })
    await waitUntil('all to be signed', () => signer.status().made > 40)
    expect(signer.hasAdopted(number + 1)).toBe(true)
    expect(signer.status().leftOut).toBe(0)
    expect(signatureWrites(generation.signing.signatures)).toBe(signer.status().made)
    expect(signer.hasAdopted(number + 2)).toBe(false)
    signer.publish({ ...generation, number: number + 2, signing: null })
    await waitUntil('the next one to be adopted', () => signer.hasAdopted(number + 2))
  } finally {
    await signer.stop()
  }
  expect(errors).toEqual([])
})
