// Chooses which commit answers a trace, and which stands beside it.
import { read } from '../api/client.ts'
import { operations } from '../api/document.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { ageOf } from '../parts/formats.ts'
import type { Commit } from '../history/changes.tsx'
import type { Question } from './simulation.tsx'

interface CommitProps {
  readonly question: Question
  readonly setQuestion: (question: Question) => void
  readonly beside: string
  readonly setBeside: (commit: string) => void
}

/** Left out for whom the history is not, and where the API answers from the newest alone. */
export function CommitFields({ question, setQuestion, beside, setBeside }: CommitProps) {
  const may = can('history:read')
  const { value: commits = [] } = useLoad('trace-commits', async () =>
    may ? (await read('/api/v1/history')).filter(({ verdict }) => verdict === 'accepted') : [],
  )
  const { commit } = operations.value?.get('POST /api/v1/simulate')?.body?.properties ?? {}
  if (!may || commit === undefined) return null
  const select = (
    id: string,
    label: string,
    none: string,
    value: string,
    choose: (commit: string) => void,
  ) => (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">{none}</option>
        {value !== '' && !commits.some((one) => one.commit === value) && (
          <option value={value}>{value.slice(0, 10)}</option>
        )}
        {commits.map((one) => (
          <option key={one.commit} value={one.commit}>
            {commitLabel(one)}
          </option>
        ))}
      </select>
    </div>
  )
  return (
    <div class="grid">
      {select('trace-commit', 'Which commit answers', 'The one of now', question.commit, (id) =>
        setQuestion({ ...question, commit: id }),
      )}
      {select('trace-beside', 'Which one stands beside it', 'None', beside, setBeside)}
    </div>
  )
}

const commitLabel = ({ commit, subject, time }: Commit): string =>
  [commit.slice(0, 10), subject || 'changes of others', ageOf(time * 1_000)].join(' · ')
