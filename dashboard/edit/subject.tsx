// The field for the subject line of the commit.
import { useId } from 'preact/hooks'

interface SubjectProps {
  readonly value: string
  readonly onChange: (subject: string) => void
}

export function SubjectField({ value, onChange }: SubjectProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>Why, in one line</label>
      <input
        {...{ id, value, maxLength: 120, autocomplete: 'off' }}
        aria-describedby={`${id}-hint`}
        placeholder="Optional"
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <p id={`${id}-hint`} class="hint">
        The subject of the commit. Without it, the subject says what is changed.
      </p>
    </div>
  )
}
