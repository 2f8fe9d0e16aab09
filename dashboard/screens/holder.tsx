// What changes a member for a while, as a link to it: a rollout or a maintenance window.
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
