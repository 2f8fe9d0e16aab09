// The history: commits of the configuration that changed something, newest first.
import { useEffect, useState } from 'preact/hooks'
import type { paths } from 'openapi-of-gslbd'
import { useAct } from '../api/act.ts'
import { read, send } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { Badge, Card, Empty, Fault, LoadState, Page, Time } from '../parts/page.tsx'
import type { Tone } from '../parts/page.tsx'
import { useAuthors } from './authors.ts'
import { joined } from './history-line.ts'

const path = '/api/v1/history'
export type Commit =
  paths['/api/v1/history']['get']['responses'][200]['content']['application/json'][number]

export function Changes() {
  const { value, fault, reload } = useLoad('history', () => read(path))
  return (
    <Page title="Changes" lead="Every change is a signed commit. Any can be taken back.">
      <Card>
        <LoadState {...{ value, fault, reload }} />
        {value?.length === 0 && (
          <Empty title="Nothing has changed yet">The first commit will be here.</Empty>
        )}
        {value !== undefined && value.length > 0 && <CommitList first={value} />}
      </Card>
    </Page>
  )
}

function CommitList({ first }: { first: readonly Commit[] }) {
  const [shown, setShown] = useState(first)
  const authorOf = useAuthors()
  useEffect(() => setShown((before) => joined(first, before)), [first])
  const [isEnd, setEnd] = useState(first.length < pageSize)
  const { fault, act } = useAct()
  const last = shown.at(-1)
  const more = () =>
    act(async () => {
      const answer = await send(`${path}?limit=${pageSize}&cursor=${last?.commit ?? ''}`)
      const found = answer.body as readonly Commit[]
      setShown([...shown, ...found])
      setEnd(found.length === 0)
    })
  return (
    <>
      <ul class="plain lines">
        {shown.map((commit) => (
          <li key={commit.commit}>
            <CommitLine commit={commit} author={authorOf(commit.author)} />
          </li>
        ))}
      </ul>
      <Fault fault={fault} />
      {!isEnd && (
        <button type="button" onClick={() => void more()}>
          Older
        </button>
      )}
    </>
  )
}

const pageSize = 100

export function CommitLine({ commit, author }: { commit: Commit; author: string }) {
  const { subject, time, objects, isActive, verdict } = commit
  return (
    <div class="split">
      <div>
        <a href={`#/changes/${commit.commit}`}>{subject === '' ? '(no subject)' : subject}</a>{' '}
        {isActive && <Badge tone="good">active</Badge>}{' '}
        {verdict !== 'accepted' && <Badge tone="warn">{verdict}</Badge>}
        <div class="hint">
          {author} · <Time ms={time * 1_000} /> · <code>{commit.commit.slice(0, 10)}</code>
        </div>
      </div>
      <div class="row">
        {objects.slice(0, shownMax).map(({ kind, id, name, change }) => (
          <Badge key={`${kind} ${id}`} tone={tones[change] ?? 'plain'}>
            {signs[change] ?? ''} {kind} {name}
          </Badge>
        ))}
        {objects.length > shownMax && (
          <span class="hint">and {objects.length - shownMax} more</span>
        )}
      </div>
    </div>
  )
}

const shownMax = 4
export const tones: Readonly<Record<string, Tone>> = {
  created: 'good',
  updated: 'info',
  deleted: 'bad',
}
export const signs: Readonly<Record<string, string>> = { created: '+', updated: '~', deleted: '−' }
