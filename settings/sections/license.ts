// The section `license` of gslbd.yaml: the vendor's key, the token, and the limits without one.
import { tokenLimits } from '#licence/token.ts'
import { duration, integer, section, text } from '#settings/forms/forms.ts'
import type { Static } from '#lib/schema/type.ts'

const perSecondMax = 1_000_000_000
const perSecond = (minimum: number, options: Record<string, unknown>) =>
  integer(minimum, perSecondMax, { ...options, 'x-reload': true })

export const license = section('Licences. [More](../operations/license.md).', {
  publicKey: text(1_000, {
    default: '',
    'x-reload': true,
    description:
      "The vendor's Ed25519 public key, in base64, hexadecimal or PEM; `gslbd license keygen` " +
      'makes one. Empty: no licence can be checked, so no limit of a licence applies. ' +
      'GSLB_LICENSE_PUBLIC_KEY goes before it.',
  }),
  key: text(tokenLimits.charactersMax, {
    default: '',
    'x-reload': true,
    'x-secret': true,
    'x-expected': 'a licence token',
    description:
      'A licence token. One that was applied over the API goes before it, and GSLB_LICENSE_KEY ' +
      'before both.',
  }),
  serverURL: text(2_000, {
    default: '',
    pattern: '^(https?://[^@\\s]+)?$',
    'x-expected': 'an http:// or https:// address without a name or password',
    'x-reload': true,
    description:
      "The vendor's licence server, asked for trials and revocations. Empty: it is never asked. " +
      'GSLB_LICENSE_SERVER_URL goes before it.',
  }),
  refreshInterval: duration({
    default: '1h',
    minimumMs: 60_000,
    maximumMs: 30 * 86_400_000,
    reload: true,
    description: 'How often the licence server is asked whether the token was revoked.',
  }),
  defaultFreeRPS: perSecond(1, {
    default: 50,
    description: 'DNS queries per second under a free licence that names no rate.',
  }),
  defaultUnlicensedRPS: perSecond(1, {
    default: 5,
    description: 'DNS queries per second without a licence that counts.',
  }),
  expiredFallbackRPS: perSecond(0, {
    default: 20,
    description:
      'DNS queries per second when licence or trial are over; 0: those of `defaultUnlicensedRPS`.',
  }),
})
export type LicenseSection = Static<typeof license>
