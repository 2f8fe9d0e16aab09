// `gslbd why`: explains an answer that was given, from the journal of a node.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { threadsOf } from '#node/compose/dns.ts'
import { updateTypesOf } from '#node/compose/transfers.ts'
import { geoPathsOf } from '#node/compose/named-files.ts'
import { JournalMoments } from '#why/query-log/journal-moments.ts'
import { replayFile } from '#why/query-log/replay-file.ts'
import { Replay } from '#why/query-log/replay.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { readClient, readType } from '#judge/simulate/question-text.ts'
import { endWith, commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { askNode } from '#cli/why/ask-node.ts'
import type { NodeAnswer } from '#cli/why/ask-node.ts'
import { pastBundle, repositoriesIn } from '#why/past-bundle.ts'
import { loadDatabases } from '#inputs/geo/databases.ts'
import { readPastInstant } from '#why/instant-text.ts'
import { lookBack, timeText } from '#why/look-back.ts'
import type { WhyQuestion } from '#why/look-back.ts'
import { journalDirectory } from '#journal/journal-directory.ts'
import { shownPast } from '#questions/past/past-job.ts'
import { openNodeApi } from '#cli/watch/node-api.ts'
import { parseName } from '#dns/name.ts'
import { findRepository } from '#gitops/source/attest.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
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
  --node NODE       with --url: asks about this node, whose journal that one has in its database
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

export const why: Command = {
  name: 'why',
  summary: 'say what was answered at an instant of the past, and why; replay a query log',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    if (values.record !== undefined) return await replayed(values.record, positionals, values, io)
    const question = questionOf(positionals, values)
    const [name = ''] = positionals
    const told =
      values.url === undefined
        ? await explainedHere(name, question, values, io)
        : await explainedByNode(name, values, io)
    if (!told.ok) return endWith(io, Exit.ErrorsFound, `gslbd why: ${told.error}`)
    const { text, shown } = told.value
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
  if (digits !== undefined && !/^[1-9]\d{0,14}$/.test(digits)) {
    throw new UsageError(`--number is a whole number from 1, not "${digits}"`)
  }
  const number = digits === undefined ? undefined : Number(digits)
  const node = nodeOf(values, io)
  if (!node.ok) return endWith(io, Exit.ErrorsFound, `gslbd why: ${node.error}`)
  const { settings, dataDir, gitdirs, databases } = node.value
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

type Explained = Result<NodeAnswer, string>

async function explainedByNode(name: string, values: Values, io: Io): Promise<Explained> {
  const { type, client: subnet, at = '', node } = values
  for (const file of ['settings', 'data-dir', 'repository'] as const) {
    if (values[file] !== undefined) throw new UsageError(`--url needs no --${file}: leave one out`)
  }
  const api = openNodeApi(values.url, io.env)
  if (!api.ok) throw new UsageError(api.error)
  const client = subnet === undefined ? {} : { subnet }
  return askNode(api.value, { name, type, at, ...client, ...(node === undefined ? {} : { node }) })
}

async function explainedHere(
  name: string,
  question: WhyQuestion,
  values: Values,
  io: Io,
): Promise<Explained> {
  if (values.node !== undefined) throw new UsageError('--node is for --url, the API of that node')
  const report = await reportOf(question, values, io)
  if (!report.ok) return report
  const { type, client } = values
  const asked = { name, type, ...(client === undefined ? {} : { subnet: client }) }
  const { text, ...shown } = shownPast(asked, report.value, null)
  return ok({ text, shown })
}

interface Values {
  readonly at?: string | undefined
  readonly client?: string | undefined
  readonly type: string
  readonly json: boolean
  readonly name?: string | undefined
  readonly number?: string | undefined
  readonly settings?: string | undefined
  readonly 'data-dir'?: string | undefined
  readonly repository?: string | undefined
  readonly url?: string | undefined
  readonly node?: string | undefined
}

async function reportOf(question: WhyQuestion, values: Values, io: Io) {
  const node = nodeOf(values, io)
  if (!node.ok) return node
  const { settings, dataDir, gitdirs, databases } = node.value
  const directory = journalDirectory(dataDir)
  const segments = segmentsIn(directory)
  const parts = { dataDir, gitdirs, segments, directory, databases }
  const types = mayBeWritten(settings, values.settings !== undefined)
  const past = await lookBack(parts, { ...question, writtenTypes: types })
  if (past.ok) return past
  const { reason, isGap } = past.error
  // Asked after the journal, since a node whose clock was ahead has records of later times.
  return err(isGap && question.atMs > systemClock.nowMs() ? aheadText(question.atMs) : reason)
}

/** Without the settings of the node, it is taken to write all types, if it writes any. */
function mayBeWritten(settings: Settings, isOfNode: boolean): readonly number[] {
  if (isOfNode) return [...updateTypesOf(settings.dns)]
  return existsSync(join(settings.dataDir, copyFile)) ? Object.values(writtenTypes) : []
}

const aheadText = (atMs: number): string =>
  `${timeText(atMs)} (--at) is in the future, so there is no record of it yet: ` +
  '"gslbd simulate --at TIME" says what would be answered then'

/** The files of a node. Errors: sentences. */
function nodeOf(values: Values, io: Io) {
  const flags = { 'data-dir': values['data-dir'] }
  const settings = loadSettings({ file: values.settings, env: io.env, flags })
  if (!settings.ok) return err(settings.error.join('\n'))
  const { dataDir } = settings.value
  const databases = loadDatabases(geoPathsOf(settings.value))
  if (!databases.ok) return databases
  const gitdirs = gitdirsOf(settings.value, values.repository)
  if (!gitdirs.ok) return gitdirs
  const parts = { dataDir, gitdirs: gitdirs.value, databases: databases.value }
  return ok({ ...parts, settings: settings.value })
}

function gitdirsOf(
  { dataDir }: Settings,
  repository: string | undefined,
): Result<readonly string[], string> {
  const own = repositoriesIn(dataDir)
  if (repository === undefined) return ok(own)
  const found = findRepository(repository)
  return found.ok ? ok([...own, found.value.gitdir]) : err(`--repository: ${found.error}`)
}

/** @throws UsageError when the words are no question */
function questionOf(positionals: readonly string[], values: Values): WhyQuestion {
  const [text, ...rest] = positionals
  if (text === undefined || rest.length > 0) throw new UsageError('give one name')
  const qname = parseName(text)
  if (!qname.ok) throw new UsageError(`"${text}" is not a domain name (${qname.error})`)
  if (values.at === undefined) throw new UsageError('say when, with --at')
  return {
    qname: qname.value,
    qtype: option('--type', readType(values.type)),
    client: values.client === undefined ? null : option('--client', readClient(values.client)),
    atMs: option('--at', readPastInstant(values.at, systemClock.nowMs())),
  }
}

/** @throws UsageError that names the option */
function option<T>(name: string, read: Result<T, string>): T {
  if (!read.ok) throw new UsageError(`${name}: ${read.error}`)
  return read.value
}
