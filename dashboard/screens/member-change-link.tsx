// A link to the rollout or maintenance window that changes a member for a while.
import type { Member } from '../api/live.ts'

const screens = { rollout: 'rollouts', window: 'maintenance-windows' } as const

export function Holder({ heldBy }: { heldBy: NonNullable<Member['heldBy']> }) {
  const { kind, id, name } = heldBy
  return (
    <a href={`#/r/${screens[kind]}/${encodeURIComponent(id)}`} title={name}>
      {kind}
    </a>
  )
}
