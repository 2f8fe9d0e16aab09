// One commit: what it changed, object by object and field by field, and the way back.
import { read } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { Answers } from '../edit/answers.tsx'
import { DifferenceTable } from '../edit/difference-table.tsx'
import { useEdits } from '../edit/use-edits.tsx'
import { go, to } from '../parts/location.ts'
import { Badge, Card, Copy, Empty, LoadState, Page, Time } from '../parts/page.tsx'
import { useAuthors } from './authors.ts'
import { signs, tones } from './changes.tsx'

const readCommit = (commit: string) => read('/api/v1/history/{commit}', { commit })

export function Change({ commit }: { commit: string }) {
  const load = () => readCommit(commit)
  const { value, fault, reload } = useLoad(`commit ${commit}`, load)
  const { confirm, dialogs } = useEdits()
  const authorOf = useAuthors()
  const revert = (): void =>
    confirm({
      ...{ title: 'Take this change back?', word: 'Take it back' },
      ...{ operation: 'POST /api/v1/history/{commit}/revert', ids: { commit } },
      onDone: () => go('/changes'),
    })
  const isRevertible = can('history:write') && value !== undefined && value.parent !== null
  return (
    <Page
      title={value?.subject ?? 'Commit'}
      back={{ href: '#/changes', name: 'Changes' }}
      lead={
        value && (
          <>
            {authorOf(value.author)} · <Time ms={value.time * 1_000} isWhole /> ·{' '}
            <code>{commit}</code>
          </>
        )
      }
      actions={
        <>
          <Copy text={commit}>Copy the commit</Copy>
          {value?.parent && can('service:read') && (
            <a class="button" href={to('/trace', { commit, beside: value.parent })}>
              Trace before and after
            </a>
          )}
          {isRevertible && (
            <button type="button" onClick={revert}>
              Take it back
            </button>
          )}
        </>
      }
    >
      <LoadState {...{ value, fault, reload }} />
      {value?.objects.length === 0 && (
        <Empty title="It changed no object">Comments and spaces, perhaps.</Empty>
      )}
      {value?.objects.map((object) => (
        <ChangedObject key={`${object.kind} ${object.id}`} object={object} />
      ))}
      {isRevertible && (
        <Card title="Answers">
          <Answers
            word="Which answers would change without it?"
            writes={[{ method: 'POST', path: `/api/v1/history/${commit}/revert` }]}
          />
        </Card>
      )}
      {dialogs}
    </Page>
  )
}

type Commit = Awaited<ReturnType<typeof readCommit>>

function ChangedObject({ object }: { object: Commit['objects'][number] }) {
  return (
    <Card
      title={`${object.kind} ${object.name}`}
      aside={
        <Badge tone={tones[object.change] ?? 'plain'}>
          {signs[object.change] ?? ''} {object.change}
        </Badge>
      }
    >
      {object.fields.length === 0 ? (
        <p class="soft">No field of it differs.</p>
      ) : (
        <DifferenceTable
          rows={object.fields.map(({ field, before, after }) => ({ field, before, after }))}
        />
      )}
    </Card>
  )
}
