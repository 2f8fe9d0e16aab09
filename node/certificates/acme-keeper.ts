// Composes what gets and renews the certificate of an ACME server on a control node.
import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { AcmeKeeper } from '#integrations/acme/acme-keeper.ts'
import type { AcmeKeeperParts } from '#integrations/acme/acme-keeper.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Settings } from '#settings/settings.ts'

const caFileBytesMax = 1_048_576

export function createAcmeKeeper(
  { acme, state }: Pick<Settings, 'acme' | 'state'>,
  parts: Pick<AcmeKeeperParts, 'vault' | 'solver' | 'log'>,
): AcmeKeeper {
  const { names, directory, contact, agreeToTerms, caFile } = acme
  return new AcmeKeeper({
    ...parts,
    wish: { directory, names: [...new Set(names.map((name) => name.toLowerCase()))] },
    ...{ contact, agreesToTerms: agreeToTerms },
    authorities: () => (caFile === undefined ? ok(undefined) : readAuthorities(caFile)),
    // The client and what it needs are loaded with the first order.
    order: async (order) => {
      const { orderCertificate } = await import('#integrations/acme/order-certificate.ts')
      return await orderCertificate(order)
    },
    ...{ node: state.nodeName, instance: randomBytes(8).toString('hex') },
    ...{ clock: systemClock, random: new Random(randomInt(0x1_0000_0000)) },
  })
}

function readAuthorities(path: string): Result<string, string> {
  try {
    if (statSync(path).size > caFileBytesMax) return err(`acme.caFile: ${path} is too large`)
    return ok(readFileSync(path, 'utf8'))
  } catch (error) {
    return err(`acme.caFile: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
