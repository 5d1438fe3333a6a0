from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path
from oauth2_provider.views.generic import ProtectedResourceView


class Account(ProtectedResourceView):
    def get(self, request):
        return HttpResponse("ada")


urlpatterns = [
    path("admin/", admin.site.urls),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("account", Account.as_view()),
]
