// The section `queryLog` of gslbd.yaml: where logged queries go, how many, and what of the client.
import { boolean, integer, section, text } from '#settings/forms/forms.ts'
import type { Static } from '#lib/schema/type.ts'

export const queryLog = section(
  'A log of queries and answers in dnstap form; without `socket` and `file` there is none. ' +
    '[More](../operations/query-log.md).',
  {
    socket: text(100, {
      'x-kind': 'path',
      'x-default': 'none',
      description:
        'Unix socket of a receiver of dnstap. While it is away, records are lost and counted.',
    }),
    file: text(4_096, {
      'x-kind': 'path',
      'x-default': 'none',
      description: 'File that is written instead, in a directory that this process may write.',
    }),
    sampleEvery: integer(1, 1_000_000, {
      default: 100,
      description: 'One of so many queries is logged, on average and at random. 1: each.',
    }),
    truncateClients: boolean({
      default: false,
      description:
        'Whether only the first 24 bits of IPv4 and 56 of IPv6 addresses of clients are logged, ' +
        'and neither ports nor cookies.',
    }),
    fileMegabytes: integer(1, 100_000, {
      default: 100,
      description: 'A file that would get longer (in units of 1,000,000 octets) is put aside.',
    }),
    keptFiles: integer(0, 100, {
      default: 5,
      description: 'Files put aside that are kept, as `FILE.1` (the newest), `FILE.2` and so on.',
    }),
  },
)
type QueryLogSection = Static<typeof queryLog>

/** Returns sentences for the operator about contradictions in the section. */
export function faultsOfQueryLog({ socket, file }: QueryLogSection): readonly string[] {
  if (socket === undefined || file === undefined) return []
  return ['queryLog.socket and queryLog.file are both there; take one of them away']
}
