// Shows what Git has, what was accepted and what answers; for a held commit why, where, and what to
// do.
import { read } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { paths } from 'openapi-of-gslbd'
import { Badge, Card, Code, LoadState, Notice, Page, Time } from '../parts/page.tsx'

const path = '/api/v1/gitops/status'
export type GitStatus =
  paths['/api/v1/gitops/status']['get']['responses'][200]['content']['application/json']
type Diagnostic = GitStatus['diagnostics'][number]

const everyMs = 5_000

export function Git() {
  const { value, fault, reload } = useLoad('git', () => read(path), everyMs)
  return (
    <Page title="Git" lead="What the branch says, what passed all checks, what answers.">
      <LoadState {...{ value, fault, reload }} />
      {value !== undefined && <Status status={value} />}
    </Page>
  )
}

function Status({ status }: { status: GitStatus }) {
  const { head, accepted, active, branch, sync, reason, note, diagnostics, node } = status
  return (
    <>
      <Card title={`Branch ${branch}`} aside={<SyncBadge sync={sync} />}>
        <ol class="plain steps">
          <Step name="Head" commit={head} says="what the branch names" />
          <Step
            name="Accepted"
            commit={accepted}
            says="passed the checks of signature and content"
          />
          <Step name="Active" commit={active} says="answers queries now" />
        </ol>
      </Card>
      {reason !== null && (
        <Notice tone="warn">
          <p>
            <strong>{reason.code}:</strong> {reason.message}
          </p>
          <p>What answered before goes on answering.</p>
        </Notice>
      )}
      {note !== null && (
        <Notice tone="info">
          <p>{note}</p>
        </Notice>
      )}
      {diagnostics.map((one, i) => (
        <DiagnosticCard key={i} diagnostic={one} />
      ))}
      <Card title="Bundle of this node">
        <dl class="facts">
          <dt>Number</dt>
          <dd>{node.seq}</dd>
          <dt>Serial of the zones</dt>
          <dd>{node.serial}</dd>
          <dt>Digest</dt>
          <dd>
            <code>{node.digest ?? 'none'}</code>
          </dd>
          <dt>Made</dt>
          <dd>
            <Time ms={node.issuedAtMs ?? 0} /> {node.expired && <Badge tone="bad">expired</Badge>}
          </dd>
          <dt>Swaps since the start</dt>
          <dd>{node.swapCount}</dd>
        </dl>
        {node.refused !== null && <Notice tone="bad">{node.refused.message}</Notice>}
      </Card>
    </>
  )
}

export function SyncBadge({ sync }: { sync: GitStatus['sync'] }) {
  return <Badge tone={sync === 'synced' ? 'good' : 'warn'}>{sync}</Badge>
}

interface StepProps {
  readonly name: string
  readonly commit: string | null
  readonly says: string
}

function Step({ name, commit, says }: StepProps) {
  return (
    <li class="step">
      <h3>
        {name}{' '}
        {commit === null ? <span class="soft">none</span> : <code>{commit.slice(0, 12)}</code>}
      </h3>
      <p class="soft">{says}</p>
    </li>
  )
}

/** What is wrong stands above the lines of the file, and the help below them. */
const frameOf = (text: string, place: string): string =>
  text.replace(/\n +help: [^\n]*\n?$/, '').replace(/^[^\n]*/, () => place)

/** As `gslbd check` shows it: the place, the sentence, what to do. */
function DiagnosticCard({ diagnostic }: { diagnostic: Diagnostic }) {
  const { code, severity, message, file, line, column, help, text } = diagnostic
  const place = line > 0 ? `${file}:${line}:${column}` : file
  return (
    <Card
      title={code}
      aside={<Badge tone={severity === 'error' ? 'bad' : 'warn'}>{severity}</Badge>}
    >
      <div class="stack">
        <p>{message}</p>
        <Code
          name="Where, and what is wrong"
          text={text === undefined ? place : frameOf(text, place)}
        />
        {help !== '' && (
          <p>
            <strong>What to do:</strong> {help}
          </p>
        )}
      </div>
    </Card>
  )
}
