// Offers actions on a member: drain, disable, change, delete; only what the role permits.
import { nowMs } from '../api/clock.ts'
import { targetOf } from '../api/live.ts'
import type { Member } from '../api/live.ts'
import { can } from '../api/session.ts'
import type { Edits } from '../edit/use-edits.tsx'
import { go } from '../parts/location.ts'

const item = '/api/v1/members/{id}'
const hourMs = 3_600_000

interface ActionsProps {
  readonly member: Member
  readonly edits: Edits
  /** In a row of a table. */
  readonly isSmall?: boolean
}

interface Action {
  readonly word: string
  readonly needs: string
  readonly act: () => void
}

export function MemberActions({ member, edits, isSmall = false }: ActionsProps) {
  const target = targetOf(member)
  return (
    <div class="row">
      {actionsOf(member, edits, isSmall)
        .filter(({ needs }) => can(needs))
        .map(({ word, act }) => (
          <button
            key={word}
            type="button"
            class={isSmall ? 'small' : ''}
            aria-label={`${word} ${target}`}
            onClick={act}
          >
            {word}
          </button>
        ))}
    </div>
  )
}

function actionsOf(member: Member, { edit, confirm }: Edits, isSmall: boolean): Action[] {
  const ids = { id: member.id }
  const target = targetOf(member)
  const turnWord = member.declaredEnabled ? 'Disable' : 'Enable'
  const change = { operation: `PATCH ${item}`, ids, from: item }
  const preset = { enabled: !member.declaredEnabled }
  const remove = {
    ...{ title: `Delete ${target}?`, word: 'Delete', operation: `DELETE ${item}`, ids, from: item },
    ...(isSmall ? {} : { onDone: () => go(`/pools/${encodeURIComponent(member.poolId)}`) }),
  }
  return [
    { word: 'Drain', needs: 'maintenance:write', act: () => edit(drainOf(member)) },
    {
      ...{ word: turnWord, needs: 'member:write' },
      act: () => edit({ ...change, title: `${turnWord} ${target}`, preset }),
    },
    {
      ...{ word: 'Edit', needs: 'member:write' },
      act: () => edit({ ...change, title: `Edit ${target}` }),
    },
    { word: 'Delete', needs: 'member:delete', act: () => confirm(remove) },
  ]
}

/** It leaves the answers for an hour, and comes back by itself. */
function drainOf(member: Member) {
  return {
    title: `Drain ${targetOf(member)}`,
    operation: 'POST /api/v1/maintenance-windows',
    preset: {
      ...{ resourceType: 'member', resourceId: member.id },
      startAt: new Date(nowMs()).toISOString(),
      endAt: new Date(nowMs() + hourMs).toISOString(),
    },
  }
}
