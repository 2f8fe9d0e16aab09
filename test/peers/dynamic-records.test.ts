// TXT records written at run time beside a zone of Git, and the same records in one zone on Knot
// DNS and NSD: the answers are the same.
import { describe, expect, test } from 'vitest'
import { createRoutingState } from '#routing/state/candidates.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { asking } from '#test/support/answer-bundle.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { referenceServers } from '#test/support/dns/reference.ts'
import { said } from '#test/support/dns/said.ts'
import type { Said } from '#test/support/dns/said.ts'
import { staticZone } from '#test/support/dns/static-zone.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { txtRrsets } from '#test/support/txt-records.ts'
import type { Txt } from '#test/support/txt-records.ts'

const text = `${staticZone.text}
*.wild A 192.0.2.7
*.wild TXT "static"
_acme.gone CNAME x.acme
`
const written: readonly Txt[] = [
  ['_a.www.example.org.', 'one'],
  ['_a.www.example.org.', 'two'],
  ['www.example.org.', 'beside'],
  ['example.org.', 'apex'],
  ['a.deep.wild.example.org.', 'below'],
  ['*.wild.example.org.', 'both'],
  ['*.star2.example.org.', 'star'],
  ['x.acme.example.org.', 'led to'],
  ['x.sub.example.org.', 'hidden'],
]
const main = bundleOf(modelOfWritten({ ...staticZone, text }))
const ours = asking(
  main,
  createRoutingState(main, 1),
  encodeWritten(txtRrsets(written), main).handed,
)
const union = written.map(([name, value]) => `${name} 60 TXT "${value}"\n`).join('')

const names = [
  ...written.map(([name]) => name.replace('*', 'any')),
  ...[
    'b.deep.wild',
    'deep.wild',
    'x._a.www',
    '_b.www',
    'acme',
    'star2',
    'x.y.star2',
    '_acme.gone',
  ].map((name) => `${name}.example.org.`),
]
const questions = names.flatMap((name) => ['TXT', 'A', 'DS', 'MX'].map((type) => `${name} ${type}`))

describe.each(referenceServers)('beside $name', ({ name, isInstalled, start }) => {
  test('every question has the same answer', async () => {
    expect(isInstalled(), `${name} is installed`).toBe(true)
    const server = await start({ ...staticZone, text: text + union })
    try {
      for (const question of questions) {
        const [mine, theirs] = [said(ours(question)), said(await ask(server, question))]
        const essence = ({ rcode, aa, answer }: Said) => [question, rcode, aa, answer]
        expect(essence(mine)).toEqual(essence(theirs))
      }
    } finally {
      await server.stop()
    }
  })
})
