// Composes what gets and renews the certificate of an ACME server on a control node.
import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { AcmeKeeper } from '#integrations/acme/acme-keeper.ts'
import type { AcmeKeeperParts } from '#integrations/acme/acme-keeper.ts'
import { systemClock } from '#lib/clock.ts'
import type { AcmeWish } from '#integrations/acme/pauses.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { Settings } from '#settings/settings.ts'

const caFileBytesMax = 1_048_576

export const wishOf = ({ directory, names }: Settings['acme']): AcmeWish => ({
  directory,
  names: [...new Set(names.map((name) => name.toLowerCase()))],
})

export function createAcmeKeeper(
  { acme, state }: Pick<Settings, 'acme' | 'state'>,
  parts: Pick<AcmeKeeperParts, 'vault' | 'solver' | 'canProve' | 'log'>,
): AcmeKeeper {
  const { contact, agreeToTerms, caFile } = acme
  return new AcmeKeeper({
    ...parts,
    wish: wishOf(acme),
    ...{ contact, agreesToTerms: agreeToTerms },
    authorities: () => (caFile === undefined ? ok(undefined) : readAuthorities(caFile)),
    // The client and what it needs are loaded with the first order.
    order: async (order) => {
      const { orderCertificate } = await import('#integrations/acme/order-certificate.ts')
      return await orderCertificate(order)
    },
    ...{ node: state.nodeName, instance: randomBytes(8).toString('hex') },
    ...{ clock: systemClock, after: systemAfter, random: new Random(randomInt(0x1_0000_0000)) },
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
