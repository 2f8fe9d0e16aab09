// A button that collects an edit, to be made together with others.
import { basket, collectedMax } from './basket.ts'

interface CollectProps {
  readonly collect: () => void
  /** True: it is collected already, and will be replaced. */
  readonly isAgain: boolean
}

export function CollectButton({ collect, isAgain }: CollectProps) {
  const isFull = !isAgain && basket.value.length >= collectedMax()
  return (
    <button
      {...{ type: 'button', onClick: collect, disabled: isFull }}
      title={isFull ? 'The commit has as many edits as the API takes.' : undefined}
    >
      {isAgain ? 'Replace in the commit' : 'Add to a commit'}
    </button>
  )
}
