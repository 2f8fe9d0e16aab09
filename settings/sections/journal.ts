// The section `journal` of gslbd.yaml: what is kept for explaining answers later.
import { boolean, duration, integer, section } from '#settings/forms/forms.ts'

export const journal = section(
  'What a node writes down for `gslbd why`. [More](../operations/why.md).',
  {
    enabled: boolean({
      default: true,
      description:
        'Whether the node keeps a journal in the data directory: which bundle answered from when ' +
        'on, and how members were. No query is in it.',
    }),
    maxAge: duration({
      default: '30d',
      minimumMs: 3_600_000,
      maximumMs: 3_660 * 86_400_000,
      description: 'How old it gets; the oldest part goes first.',
    }),
    maxMegabytes: integer(1, 1_000_000, {
      default: 1_024,
      description: 'How large it gets, whatever its age; the oldest part goes first.',
    }),
  },
)
