// The screen of one entry of any resource, with what the API lets the caller do with it.
import { useMemo } from 'preact/hooks'
import { send, fill } from '../api/client.ts'
import { operations } from '../api/document.ts'
import type { Operation, Operations } from '../api/document.ts'
import { useLoad } from '../api/load.ts'
import { Offer } from '../edit/call-button.tsx'
import { me } from '../api/session.ts'
import { useEdits } from '../edit/use-edits.tsx'
import { go } from '../parts/location.ts'
import { Card, Code, Copy, Empty, LoadState, Page } from '../parts/page.tsx'
import { labelOf, yamlOf } from '../parts/formats.ts'
import { NoDocument } from './resource.tsx'
import { Facts, nameOf } from './value.tsx'
import { itemPathOf, keyOf, titleOf } from './columns.ts'
import type { Row } from './columns.ts'

interface ItemProps {
  /** Path of the list. */
  readonly path: string
  readonly name: string
  readonly id: string
}

export function ResourceItem(props: ItemProps) {
  const known = operations.value
  const item = known === null ? undefined : itemPathOf(props.path, known)
  if (known === null || item === undefined) {
    return (
      <Page title={props.name}>
        {known === null ? <NoDocument /> : <Empty title="No such entry" />}
      </Page>
    )
  }
  return <ItemBody {...{ ...props, item, known }} />
}

interface ItemBodyProps extends ItemProps {
  /** `/api/v1/rollouts/{id}`. */
  readonly item: string
  readonly known: Operations
}

function ItemBody({ path, name, id, item, known }: ItemBodyProps) {
  const param = /\{(\w+)\}$/.exec(item)?.[1] ?? 'id'
  const ids = { [param]: id }
  const hasRead = known.has(`GET ${item}`)
  // Some entries are only in their list.
  const load = async (): Promise<Row | null> => {
    if (hasRead) return (await send(fill(item, ids))).body as Row
    const rows = (await send(path)).body as Row[]
    return rows.find((row) => String(row[keyOf(rows)]) === id) ?? null
  }
  const { value, fault, reload } = useLoad(`item ${path} ${id}`, load)
  const edits = useEdits()
  const list = `/r/${path.slice('/api/v1/'.length).replaceAll('/', '.')}`
  const found = useMemo(() => actionsOf(item, known), [item, known])
  const from = hasRead ? { from: item } : {}
  const start = (operation: Operation): void => {
    const key = `${operation.method} ${operation.path}`
    const isGone = operation.method === 'DELETE'
    const onDone = (): void => (isGone ? go(list) : reload())
    const word = wordOf(operation, item)
    const takesForm = Object.keys(operation.body?.properties ?? {}).length > 0
    if (takesForm) {
      const isNew = operation.path !== item
      const title = (value && warningOf(key, value)) ?? operation.summary
      edits.edit({ title, operation: key, ids, ...(isNew ? {} : from), onDone })
    } else edits.confirm({ title: `${word}?`, operation: key, ids, ...from, onDone, word })
  }
  return (
    <Page
      title={value ? titleIn(value, id) : name}
      lead={name}
      back={{ href: `#${list}`, name }}
      actions={(value ? found : []).map((operation) => {
        const key = `${operation.method} ${operation.path}`
        return (
          <Offer key={key} operation={key} onClick={() => start(operation)}>
            {wordOf(operation, item)}
          </Offer>
        )
      })}
    >
      <LoadState {...{ value, fault, reload }} />
      {value === null && <Empty title="It is gone">Somebody may have deleted it.</Empty>}
      {value && (
        <>
          <Card>
            <Facts value={value} />
          </Card>
          <Card title="As YAML" aside={<Copy text={yamlOf(value).trim()}>Copy as YAML</Copy>}>
            <Code name="The entry as YAML" text={yamlOf(value).trim()} />
          </Card>
        </>
      )}
      {edits.dialogs}
    </Page>
  )
}

/** By the name of what it is about, where it has none of its own. */
function titleIn(value: Row, id: string): string {
  const title = titleOf(value, id)
  return nameOf(title)?.name ?? title
}

/** Before it is done: what it does besides what the form says. */
function warningOf(operation: string, value: Row): string | undefined {
  const isOther = value['id'] !== me.value?.id
  if (operation !== 'PUT /api/v1/users/{id}' || !isOther) return undefined
  return value['totpEnabled'] === true
    ? 'Change the account: whatever you change, this clears its second factor'
    : undefined
}

/** PATCH where there is one, else PUT; then what is below the entry; then its end. */
function actionsOf(item: string, known: Operations): Operation[] {
  const change = known.get(`PATCH ${item}`) ?? known.get(`PUT ${item}`)
  const below = [...known.values()].filter(
    ({ method, path }) => method === 'POST' && path.startsWith(`${item}/`),
  )
  const end = known.get(`DELETE ${item}`)
  return [change, ...below, end].filter((operation) => operation !== undefined)
}

function wordOf({ method, path }: Operation, item: string): string {
  if (method === 'DELETE') return 'Delete'
  if (path === `${item}/key`) return 'New key'
  return path === item ? 'Edit' : labelOf(path.slice(item.length + 1))
}
