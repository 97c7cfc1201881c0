import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { approvalListPending, approvalV1List } from "../../../api/operations.gen.ts";
import { useToast } from "../../../ui/toast.tsx";

type Action = { readonly run: () => Promise<unknown>; readonly done?: string };

/** Runs an action of the user: refusals become a message that stays, and what was read about the execution is stale. */
export function useAction() {
  const show = useToast();
  const client = useQueryClient();
  const { mutateAsync, isPending } = useMutation({
    mutationFn: ({ run }: Action) => run(),
    onError: (error) => show({ tone: "failed", message: messageOf(error) }),
    onSuccess: async (_, { done }) => {
      if (done !== undefined) show({ tone: "success", message: done });
      await Promise.all(
        [approvalV1List, approvalListPending].map(({ id }) => client.invalidateQueries({ queryKey: [id] })),
      );
    },
  });
  return {
    isBusy: isPending,
    /** Resolves to whether it was accepted. */
    act: (action: Action): Promise<boolean> =>
      mutateAsync(action).then(
        () => true,
        () => false,
      ),
  };
}
