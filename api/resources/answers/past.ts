// Defines the JSON of a past answer: the question, what was answered or may have been, and why.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed, nullable } from '#http/shapes.ts'
import { Simulation, text } from './simulation.ts'

export const PastQuestion = closed({
  name: text(1_100, 'The name that was asked for.', { examples: ['www.example.com.'] }),
  at: text(64, 'When: 2026-01-31T03:12:00Z, a time of day in UTC that was last, or 90m ago.'),
  type: Type.Optional(text(20, 'A, AAAA, SOA … or TYPE65.', { default: 'A' })),
  client: Type.Optional(text(64, 'Address of who asked: a resolver, or a client itself.')),
  subnet: Type.Optional(
    text(64, 'Network that the resolver said its client was in (RFC 7871): 192.0.2.0/24.'),
  ),
  node: Type.Optional(text(255, 'Whose answer. Without it: of the node that is asked.')),
})
export type PastQuestion = Static<typeof PastQuestion>

const Share = Type.Object({
  member: Type.String({ description: 'An address, or the host name of an alias' }),
  pool: Type.String(),
  probability: Type.Number({ description: 'Of the answers, that it stood first in' }),
})

const Commit = Type.Object({
  id: Type.String(),
  author: nullable(Type.String({ description: 'null: not known here, or not for this caller' })),
  date: nullable(Type.String({ description: 'ISO 8601' })),
  subject: nullable(Type.String()),
})

const { properties } = Simulation

export const PastAnswer = Type.Object(
  {
    ...{ name: properties.name, type: properties.type, at: properties.at },
    node: Type.String({ description: 'Who answered' }),
    commit: nullable(Commit),
    digest: properties.digest,
    since: nullable(
      Type.String({ description: 'From when on this bundle answered; null: before the journal' }),
    ),
    bundleFrom: Type.Enum(['the data directory', 'the commit, compiled again']),
    isCertain: Type.Boolean({
      description:
        'Neither dice nor turns had a part in it, nor what is not kept: the answer is the one ' +
        'that was given',
    }),
    shares: Type.Array(Share),
    mayAnswer: Type.Array(Type.String(), { description: 'All addresses that may have been in it' }),
    notes: Type.Array(Type.String(), { description: 'What is not known of then' }),
    ...{ rcode: properties.rcode, rule: properties.rule, zone: properties.zone },
    ...{ match: properties.match, owner: properties.owner, records: properties.records },
    ...{ scope: properties.scope, signing: properties.signing, service: properties.service },
    text: Type.String({ description: 'The same for people, as `gslbd why` prints it' }),
  },
  { title: 'PastAnswer' },
)
