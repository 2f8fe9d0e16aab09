// Defines the settings `roles` and `bundle` of gslbd.yaml: what a node does, and from which servers
// it pulls bundles.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { duration, section, text } from '#settings/forms/forms.ts'

export const roleNames = ['control', 'dns', 'agent'] as const
export type Role = (typeof roleNames)[number]

export const roles = Type.Optional(
  Type.Array(Type.Enum([...roleNames]), {
    default: ['control', 'dns'],
    minItems: 1,
    maxItems: 2,
    'x-expected': '[control, dns], [control], [dns] or [agent]',
    description:
      'What this node does. `control` follows the repository, compiles it and has the API; `dns` ' +
      'answers queries. `[dns]` alone pulls compiled bundles from `bundle.urls`; `[control]` ' +
      'alone gives them and answers no DNS. `[agent]` pulls them too, and only probes members. ' +
      '[More](../operations/fleet.md).',
  }),
)

/** Without a name or a password, which would be shown in the status, and without a query. */
const sourcePattern = '^https?://[^/@?#\\s]+(/[^@?#\\s]*)?$'

export const bundle = section(
  'Where a node of `roles: [dns]` has bundles from. [More](../operations/fleet.md).',
  {
    urls: Type.Optional(
      Type.Array(Type.String({ maxLength: 2_000, pattern: sourcePattern }), {
        default: [],
        maxItems: 16,
        'x-expected':
          'a list of http:// or https:// addresses without a password, such as ' +
          '[https://control.example.net]',
        description:
          'Addresses below which are `bundles/channels/NAME` and `bundles/DIGEST`: of the API of ' +
          'control nodes, or of what `gslbd publish` wrote. The first that works is used.',
      }),
    ),
    channel: text(63, {
      default: 'main',
      pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
      'x-expected': 'small letters, digits and dashes',
      description: 'Channel that is followed. A control node publishes `main`.',
    }),
    poll: duration({
      default: '5s',
      minimumMs: 100,
      maximumMs: 3_600_000,
      description:
        'How often a source is asked that does not wait for a change itself, give or take a half.',
    }),
    keys: text(4_096, {
      'x-kind': 'path',
      'x-default': '`bundle_keys` in the data directory',
      description:
        'File with the public keys of the control nodes whose bundles are believed, as ' +
        '`openssl pkey -in keys/node.pem -pubout` prints them, or as lines of OpenSSH. Read ' +
        'again at SIGHUP.',
    }),
  },
)
type BundleSection = Static<typeof bundle>

/** Checks for what a node cannot start with. Errors: a sentence. */
export function roleFault(roles: readonly Role[], { urls }: BundleSection): string | undefined {
  if (roles.includes('agent') && roles.length > 1) {
    return 'roles: an agent only probes, and every other node probes, too; write [agent] alone'
  }
  if (roles.includes('control') || urls.length > 0) return undefined
  const [role = 'dns'] = roles
  return `bundle.urls is empty: a node of the role ${role} alone has its bundles from there; name a source`
}
