// Diagnostics of what running nodes have counted: `gslbd lint` alone tells them.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const useDiagnostics = {
  'unused-object': {
    severity: 'warning',
    message: 'no query of %s days has used the %s %s%s',
    help: 'remove it, or leave it if it waits for something',
    cause:
      'Nodes mark which names are asked for, which members are answered, and which rules and ' +
      'redirects are hit. All of them have counted for the whole time, and it was there.',
    bad:
      '# nobody asks for old.example.com. any more\n' +
      'spec: { domain: old.example.com., pool: web }',
    good: '# the file is removed',
  },
  'ttl-too-long': {
    severity: 'warning',
    message: 'TTL %s, but what %s is answered from changed %s times in %s days (%s)',
    help: 'with a TTL of %s clients have an old answer for at most %s % of the time',
    cause:
      'A resolver keeps an answer for the TTL, whatever happens to members. Changes are those ' +
      'of the health of members, as probes find it, and commits that change the service or its ' +
      'pool.',
    bad: '# members went down and came back seven times\nttl: 3600',
    good: 'ttl: 300',
  },
  'ttl-too-short': {
    severity: 'note',
    message: 'TTL %s, and what %s is answered from has not changed in %s days',
    help: 'with a TTL of %s resolvers ask less often; a change then takes as long to reach them',
    cause:
      'Each resolver asks again when the TTL is over. Where members are probed, only a TTL ' +
      'below 30 is pointed out.',
    bad: '# nothing has changed for a month, and nothing is probed\nttl: 5',
    good: 'ttl: 3600',
  },
} as const satisfies Readonly<Record<string, DiagnosticSpec>>
