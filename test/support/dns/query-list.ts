// Queries that cover the protocol checklist, for asking several servers the same.
import { ecs } from './ecs.ts'
import { longestName } from './fixture.ts'
import { encodeOpt, query } from './message.ts'
import type { QueryParts } from './message.ts'

export interface ListedQuery {
  /** Unique: the question and how it is sent. */
  readonly title: string
  readonly bytes: Buffer
  readonly tcp: boolean
}

const names: readonly string[] = [
  'example.org.',
  'www.example.org.',
  'WwW.eXample.ORG.',
  'six.example.org.',
  'dual.example.org.',
  'none.example.org.',
  'down.example.org.',
  'ns1.example.org.',
  'nothere.example.org.',
  'below.www.example.org.',
  'far.far.below.example.org.',
  'ent.example.org.',
  'deep.ent.example.org.',
  'www.deep.ent.example.org.',
  'apps.example.org.',
  'x.apps.example.org.',
  'y.x.apps.example.org.',
  '*.apps.example.org.',
  '*.example.org.',
  'real.apps.example.org.',
  'x.real.apps.example.org.',
  'blocked.apps.example.org.',
  'x.blocked.apps.example.org.',
  'host.blocked.apps.example.org.',
  'sub.example.org.',
  'www.sub.example.org.',
  'no.sub.example.org.',
  'short.example.',
  'no.short.example.',
  'big.example.',
  'huge.example.',
  longestName,
  '\\000\\255.example.org.',
  'www\\.example.org.',
  'elsewhere.test.',
  'org.',
  '.',
]

const types: readonly string[] = [
  'A',
  'AAAA',
  'NS',
  'SOA',
  'CNAME',
  'MX',
  'TXT',
  'DS',
  'HTTPS',
  'TYPE1000',
]

type Manner = readonly [title: string, parts: QueryParts, tcp: boolean]

const manners: readonly Manner[] = [
  ['over UDP', {}, false],
  ['over UDP with EDNS and DO', { opt: { udpSize: 4_096, dnssecOk: true } }, false],
  ['over TCP', { rd: true }, true],
]

const www = 'www.example.org. A'

/** Asked over UDP. */
const odd: readonly (readonly [title: string, bytes: Buffer])[] = [
  ['with RD, AD, CD and Z', query(www, { rd: true, ad: true, cd: true, z: true })],
  ['with AA, TC and RA', query(www, { aa: true, tc: true, ra: true })],
  ['class ANY', query(www, { class: 255 })],
  ['class CHAOS', query(www, { class: 3 })],
  ['class NONE', query(www, { class: 254 })],
  ['class 77', query(www, { class: 77 })],
  ['version.bind', query('version.bind. TXT', { class: 3 })],
  ['id.server', query('id.server. TXT', { class: 3 })],
  ['IQUERY', query(www, { opcode: 1 })],
  ['STATUS', query(www, { opcode: 2 })],
  ['opcode 15', query(www, { opcode: 15 })],
  ['header of opcode 15', query(www, { opcode: 15, questions: [] })],
  ['no question', query(www, { questions: [] })],
  ['trailing octet', query(www, { trailing: Buffer.from([0]) })],
  ['size 100', query('example.org. NS', { opt: { udpSize: 100 } })],
  ['size 600', query('big.example. NS', { opt: { udpSize: 600 } })],
  ['size 65535', query('huge.example. NS', { opt: { udpSize: 65_535 } })],
  ['EDNS version 1', query(www, { opt: { version: 1 } })],
  ['EDNS version 255 with DO', query(www, { opt: { version: 255, dnssecOk: true } })],
  ['EDNS flags', query(www, { opt: { flags: 0x7fff } })],
  ['unknown option', query(www, { opt: { options: [{ code: 65_001, data: Buffer.alloc(9) }] } })],
  ['NSID', query(www, { opt: { options: [{ code: 3, data: Buffer.alloc(0) }] } })],
  ['client subnet', query(www, { opt: { options: [ecs(1, 24, 0, 'c63364')] } })],
  ['two OPT records', withOpts(encodeOpt({}), encodeOpt({}))],
  ['OPT below the root', withOpts(encodeOpt({}, 'example.org.'))],
  ['OPT cut short', withOpts(encodeOpt({}).subarray(0, 6))],
  ['option beyond OPT', withOpts(Buffer.concat([optOf(4), Buffer.from([0, 3, 0, 9])]))],
  ['question cut short', query(www).subarray(0, 20)],
  ['a header that counts a question', query(www).subarray(0, 12)],
  ['a name that points to itself', Buffer.from('000100000001000000000000c00c00010001', 'hex')],
  ['ANY', query('dual.example.org. ANY')],
  ['ANY of an absent name', query('no.example.org. ANY')],
  ['AXFR', query('example.org. AXFR')],
  ['IXFR', query('example.org. IXFR')],
  ['MAILB', query('www.example.org. MAILB')],
  ['TYPE128', query('www.example.org. TYPE128')],
  ['OPT as a type', query('www.example.org. OPT')],
  ['type zero', query('www.example.org. TYPE0')],
]

/** An OPT record that announces `rdataBytes` and ends there. */
function optOf(rdataBytes: number): Buffer {
  return Buffer.concat([encodeOpt({}).subarray(0, 9), Buffer.from([0, rdataBytes])])
}

function withOpts(...opts: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat([query(www), ...opts])
  bytes.writeUInt16BE(opts.length, 10)
  return bytes
}

export const listedQueries: readonly ListedQuery[] = Object.freeze([
  ...names.flatMap((name) =>
    types.flatMap((type) =>
      manners.map(([manner, parts, tcp]) => ({
        title: `${name} ${type} ${manner}`,
        bytes: query(`${name} ${type}`, parts),
        tcp,
      })),
    ),
  ),
  ...odd.map(([title, bytes]) => ({ title: `odd: ${title}`, bytes, tcp: false })),
])
