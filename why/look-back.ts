// Answers a question as of an instant, by the journal, the bundle, the databases and the
// repository.
import { joinedClauses } from '#lib/clauses.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { findMoment } from '#journal/moment.ts'
import type { Gap, Moment, Segments } from '#journal/moment.ts'
import { pastBundle, commitDetails } from './past-bundle.ts'
import type { PastBundle, CommitDetails } from './past-bundle.ts'
import { otherDatabases, otherReleases } from '#inputs/geo/databases.ts'
import type { Databases } from '#inputs/geo/databases.ts'
import { explainPast } from './explain.ts'
import type { PastAnswer, PastQuestion } from './explain.ts'
import { journalFault } from './journal-fault.ts'

interface WhyParts {
  readonly dataDir: string
  /** Bare repositories, or `.git` of clones. */
  readonly gitdirs: readonly string[]
  /** Segments, the newest first. */
  readonly segments: Segments
  /** Directory of the databases, if they are files. */
  readonly directory?: string
  /** The node whose copies they are; left out: they are this node's files. */
  readonly copyOf?: string
  readonly databases: Databases
}

export interface WhyQuestion extends Omit<PastQuestion, 'otherDatabases'> {
  readonly atMs: number
  /** Records that were written at run time at the name, and are there still. */
  readonly written?: readonly WrittenNote[]
}

export interface WrittenNote {
  readonly createdAtMs: number
  /** What it is, and who wrote it: the subject and the verb of a sentence. */
  readonly text: string
}

export interface PastReport extends PastAnswer {
  readonly atMs: number
  readonly node: string
  /** null: the bundle was not compiled from a commit. */
  readonly commit: CommitDetails | null
  readonly digest: string
  /** When this bundle became active; null: before the journal begins. */
  readonly sinceMs: number | null
  readonly bundleFrom: PastBundle['from']
  /** Sentences about what was uncertain then, or is unknown now. */
  readonly notes: readonly string[]
}

interface NotExplained {
  /** Sentences about what is missing. */
  readonly reason: string
  /** True: the journal does not cover the instant. */
  readonly isGap: boolean
}

export async function lookBack(
  parts: WhyParts,
  question: WhyQuestion,
): Promise<Result<PastReport, NotExplained>> {
  const moment = findMoment(parts.segments, question.atMs)
  if (moment.kind === 'gap') {
    return err({ reason: missingText(moment, question.atMs, parts), isGap: true })
  }
  const { generation } = moment
  const found = await pastBundle(parts.dataDir, parts.gitdirs, generation)
  if (!found.ok) return err({ reason: found.error, isGap: false })
  const { bundle, from } = found.value
  const { tablesFor, releases } = parts.databases
  const past = await explainPast(bundle, moment, tablesFor(bundle), {
    ...question,
    otherDatabases: otherDatabases(moment.tables, releases),
  })
  if (!past.ok) {
    const reason = `the journal of ${timeText(question.atMs)} cannot be used: ${past.error}`
    return err({ reason, isGap: false })
  }
  return ok({
    ...past.value,
    atMs: question.atMs,
    node: moment.segment.node,
    commit: await commitDetails(parts.gitdirs, generation.commit),
    digest: generation.digest,
    sinceMs: moment.sinceMs,
    bundleFrom: from,
    notes: [
      ...notesOf(moment),
      // The client's place only matters to a choice among members.
      ...(past.value.simulation.service === null ? [] : otherReleases(moment.tables, releases)),
      ...past.value.unknown,
      ...writtenNotes(question),
    ],
  })
}

/** Records that a note names. */
const writtenMax = 8

function writtenNotes({ atMs, written = [] }: WhyQuestion): readonly string[] {
  const known = written.filter(({ createdAtMs }) => createdAtMs <= atMs)
  return known.slice(0, writtenMax).map(({ createdAtMs, text }) => {
    return `${text} at ${timeText(createdAtMs)}, and is there still`
  })
}

function notesOf({ before, isRepeated }: Moment): readonly string[] {
  return [
    ...(before === null
      ? []
      : [
          'a swap was under way: some threads may still have answered from the bundle before, of ' +
            `commit ${before.commit}`,
        ]),
    ...(isRepeated
      ? ['the clock of the node showed this instant more than once: this is the last time']
      : []),
  ]
}

/** Names unreadable files as well, which may cover the instant. */
function missingText(gap: Gap, atMs: number, { directory, copyOf }: WhyParts): string {
  const fault = directory === undefined ? null : journalFault(directory)
  if (gap.why === 'empty') return gapText({ ...gap, reason: fault ?? '' }, atMs)
  const text = gapText(gap, atMs, copyOf)
  return fault === null ? text : joinedClauses(text, fault)
}

/** @returns sentences */
export function gapText(gap: Gap, atMs: number, copyOf?: string): string {
  const { why, endMs, beginMs, reason } = gap
  if (why === 'empty') {
    if (reason !== '') return `the journal cannot be read: ${reason}`
    return 'there is no journal: is this the data directory of a node, with journal.enabled?'
  }
  const at = timeText(atMs)
  const until = endMs === null ? '' : ` It ends at ${timeText(endMs)}`
  const from = beginMs === null ? '' : ` and goes on at ${timeText(beginMs)}`
  if (endMs === null) {
    const first = beginMs === null ? '' : `, which begins at ${timeText(beginMs)}`
    return `${at} is before the journal${first}`
  }
  const around = `${until}${from}.`
  if (why === 'stopped') return `the node was stopped at ${at}.${around}`
  if (why === 'lost') return `the journal could not be written at ${at}: ${reason}.${around}`
  if (copyOf === undefined) {
    return `the journal says nothing of ${at}: the node was down, or its file was cut.${around}`
  }
  return (
    `the journal of ${copyOf} that is kept here says nothing of ${at}: the node was down, or ` +
    `what it wrote then has not come here.${around}`
  )
}

export const timeText = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}
