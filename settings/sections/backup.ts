// The section `backup` of gslbd.yaml: copies of what a control node is made of, in files.
import { boolean, duration, integer, section, text } from '#settings/forms/forms.ts'

export const backup = section(
  'Backups: the database, keys and repository. [More](../operations/backups.md).',
  {
    enabled: boolean({ default: false, description: 'Whether this node writes backups.' }),
    interval: duration({
      default: '1h',
      minimumMs: 60_000,
      maximumMs: 365 * 86_400_000,
      description: 'From one backup to the next, which may be some seconds late.',
    }),
    keep: integer(0, 100_000, {
      default: 24,
      description: 'How many are kept; the oldest go first. 0 keeps all.',
    }),
    directory: text(4_096, {
      default: '/var/lib/gslbd/backups',
      'x-kind': 'path',
      description:
        'Where they are, as `gslbd-20260131T235959.db` (UTC). No two nodes write to one directory.',
    }),
  },
)
