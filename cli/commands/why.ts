// `gslbd why`: explains an answer that was given, from the journal of a node.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { threadsOf } from '#node/compose/dns.ts'
import { updateTypesOf } from '#node/compose/transfers.ts'
import { geoPathsOf } from '#node/compose/named-files.ts'
import { JournalMoments } from '#why/query-log/journal-moments.ts'
import { replayFile } from '#why/query-log/replay-file.ts'
import { Replay } from '#why/query-log/replay.ts'
import { settingsFor } from '#cli/files/settings-file.ts'
import type { Settings } from '#settings/settings.ts'
import { readClient, readType } from '#judge/simulate/question-text.ts'
import {
  CommandFault,
  commandLine,
  Exit,
  needed,
  optionValue,
  UsageError,
  wholeNumber,
} from '#system/process/command.ts'
import type { Command, Io, ValuesOf } from '#system/process/command.ts'
import { askNode } from '#cli/why/ask-node.ts'
import type { NodeAnswer } from '#cli/why/ask-node.ts'
import { pastBundle, repositoriesIn } from '#why/past-bundle.ts'
import { loadDatabases } from '#inputs/geo/databases.ts'
import { readPastInstant } from '#why/instant-text.ts'
import { lookBack, timeText } from '#why/look-back.ts'
import type { WhyQuestion } from '#why/look-back.ts'
import { journalDirectory } from '#journal/journal-directory.ts'
import { shownPast } from '#questions/past/past-job.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import { parseName } from '#dns/name.ts'
import { findRepository } from '#gitops/source/attest.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { segmentsIn } from '#journal/moment.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'
import { copyFile } from '#zones/dynamic/local-copy.ts'

const usage = `Usage: gslbd why NAME --at TIME [options]
       gslbd why --record FILE [--name NAME] [--number N] [options]

Says what this node answered to a query for NAME at an instant of the past, and why: the answer
itself where it was certain, else each that it may have been, with its share; the health of then,
the commit and its author. It reads the journal in the data directory; the node may run meanwhile.

With --record it answers each query of a query log (queryLog.file in the settings) once more, from
the bundle and the health of then, with the dice and the turn that the log has, and says whether the
very octets come out again.

  --at TIME         such as 2026-01-31T03:12:00Z; 03:12: the last time that it was, in UTC; or 90m:
                    so long ago
  --client ADDRESS  who asked; also a network such as 192.0.2.0/24, as resolvers send it
  --type TYPE       A (default), AAAA, SOA, NS, … or TYPE65
  --record FILE     records of dnstap in Frame Streams
  --name NAME       with --record: only queries for this name
  --number N        with --record: only the record of this number, from 1
  --settings FILE   the settings of the node: its data directory, geo databases and dns
  --data-dir PATH   its data directory, where the settings do not say it
  --repository DIR  a clone that has the commit of then, where the node has it no more
  --url URL         asks the API of a running node in place of its files; GSLB_API_KEY is the key
  --node NODE       asks the API of --url, or of GSLB_API_URL, about this node, whose journal that
                    one has in its database
  --json            prints the report as JSON, as POST /api/v1/why gives it; with --record a line
                    for each record that is not the same, and one with the counts

Exit codes: 0 explained, or each answer came out again; 1 it cannot be, and what is missing, or an
answer did not; 2 wrong call.`

const options = {
  at: { type: 'string' },
  record: { type: 'string' },
  name: { type: 'string' },
  number: { type: 'string' },
  client: { type: 'string' },
  type: { type: 'string', default: 'A' },
  settings: { type: 'string' },
  'data-dir': { type: 'string' },
  repository: { type: 'string' },
  url: { type: 'string' },
  node: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

type Values = ValuesOf<typeof options>

export const why: Command = {
  name: 'why',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    if (values.record !== undefined) return await replayed(values.record, positionals, values, io)
    const question = questionOf(positionals, values)
    const [name = ''] = positionals
    const explained =
      values.url === undefined && values.node === undefined
        ? await explainedHere(name, question, values, io)
        : await explainedByNode(name, values, io)
    const { text, shown } = explained
    io.out(values.json ? `${JSON.stringify(shown, null, 2)}\n` : text)
    return Exit.Ok
  },
}

/** @throws UsageError for a wrong call */
async function replayed(
  file: string,
  positionals: readonly string[],
  values: Values,
  io: Io,
): Promise<Exit> {
  const { name, number: digits } = values
  for (const other of ['at', 'client', 'url', 'node'] as const) {
    if (values[other] !== undefined) throw new UsageError(`--record has no --${other}`)
  }
  if (positionals.length > 0) throw new UsageError('with --record write --name NAME')
  const number =
    digits === undefined ? undefined : wholeNumber('--number', digits, 1, Number.MAX_SAFE_INTEGER)
  const { settings, dataDir, gitdirs, databases } = nodeOf(values, io)
  const journal = new JournalMoments(journalDirectory(dataDir))
  const replay = new Replay({
    settings: threadsOf(settings).settings,
    databases,
    momentAt: (atMs) => journal.at(atMs),
    bundleOf: async (head) => {
      const found = await pastBundle(dataDir, gitdirs, head)
      return found.ok ? ok(found.value.bundle) : found
    },
  })
  const isSame = await replayFile(replay, { file, name, number, isJson: values.json }, io)
  return isSame ? Exit.Ok : Exit.ErrorsFound
}

async function explainedByNode(name: string, values: Values, io: Io): Promise<NodeAnswer> {
  const { type, client: subnet, at = '', node } = values
  for (const file of ['settings', 'data-dir', 'repository'] as const) {
    if (values[file] !== undefined)
      throw new UsageError(`an API is asked without --${file}: leave one out`)
  }
  const client = subnet === undefined ? {} : { subnet }
  const asked = { name, type, at, ...client, ...(node === undefined ? {} : { node }) }
  return askNode(nodeApiFor(values.url, io), asked)
}

async function explainedHere(
  name: string,
  question: WhyQuestion,
  values: Values,
  io: Io,
): Promise<NodeAnswer> {
  const report = await reportOf(question, values, io)
  const { type, client } = values
  const asked = { name, type, ...(client === undefined ? {} : { subnet: client }) }
  const { text, ...shown } = shownPast(asked, report, null)
  return { text, shown }
}

async function reportOf(question: WhyQuestion, values: Values, io: Io) {
  const { settings, dataDir, gitdirs, databases } = nodeOf(values, io)
  const directory = journalDirectory(dataDir)
  const segments = segmentsIn(directory)
  const parts = { dataDir, gitdirs, segments, directory, databases }
  const types = mayBeWritten(settings, values.settings !== undefined)
  const past = await lookBack(parts, { ...question, writtenTypes: types })
  if (past.ok) return past.value
  const { reason, isGap } = past.error
  // Asked after the journal, since a node whose clock was ahead has records of later times.
  const isAhead = isGap && question.atMs > systemClock.nowMs()
  throw new CommandFault(Exit.ErrorsFound, isAhead ? aheadText(question.atMs) : reason)
}

/** Without the settings of the node, it is taken to write all types, if it writes any. */
function mayBeWritten(settings: Settings, isOfNode: boolean): readonly number[] {
  if (isOfNode) return [...updateTypesOf(settings.dns)]
  return existsSync(join(settings.dataDir, copyFile)) ? Object.values(writtenTypes) : []
}

const aheadText = (atMs: number): string =>
  `${timeText(atMs)} (--at) is in the future, so there is no record of it yet: ` +
  '"gslbd simulate --at TIME" says what would be answered then'

/** The files of a node. */
function nodeOf(values: Values, io: Io) {
  const settings = settingsFor(io, values.settings, { 'data-dir': values['data-dir'] })
  const { dataDir } = settings
  const databases = needed(loadDatabases(geoPathsOf(settings)))
  return { settings, dataDir, databases, gitdirs: gitdirsOf(dataDir, values.repository) }
}

function gitdirsOf(dataDir: string, repository: string | undefined): readonly string[] {
  const own = repositoriesIn(dataDir)
  if (repository === undefined) return own
  const found = findRepository(repository)
  if (!found.ok) throw new CommandFault(Exit.ErrorsFound, `--repository: ${found.error}`)
  return [...own, found.value.gitdir]
}

/** @throws UsageError when the words are no question */
function questionOf(positionals: readonly string[], values: Values): WhyQuestion {
  const [text, ...rest] = positionals
  if (text === undefined || rest.length > 0) throw new UsageError('give one name')
  const qname = parseName(text)
  if (!qname.ok) throw new UsageError(`"${text}" is not a domain name (${qname.error})`)
  if (values.at === undefined)
    throw new UsageError('say when, such as --at 5m (ago), --at 03:12 or --at 2026-01-31T03:12:00Z')
  return {
    qname: qname.value,
    qtype: optionValue('--type', readType(values.type)),
    client: values.client === undefined ? null : optionValue('--client', readClient(values.client)),
    atMs: optionValue('--at', readPastInstant(values.at, systemClock.nowMs())),
  }
}
